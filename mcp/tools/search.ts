import { z } from 'zod';
import { unwrap } from '../../clients/typescript/src';
import { searchRequest } from '../../contracts/knowledge/search';
import { annotations, type BoardTool, defineTool } from '../tool';

export const searchTools: BoardTool[] = [
  defineTool({
    name: 'search',
    title: 'Search tasks and documents',
    description:
      'Searches active and archived tasks and documents by words and, where a model is configured, by meaning.',
    annotations: annotations.reads,
    input: searchRequest
      .pick({ query: true, collections: true })
      .extend({ limit: z.number().int().min(1).max(50).default(10) }),
    call: async ({ board, signal }, body) => {
      const { results, degraded } = await unwrap(board.POST('/api/search', { body, signal }));
      return { results, degraded };
    },
  }),
];
