import { z } from 'zod';
import { boardSummary, recentQuery, recentSummary, standup, standupQuery } from '../../../contracts/system/summary';
import { summarizeBoard, summarizeRecent, withStatus } from '../../../domain/summaries/board-summary';
import { memoryMarkdown, renderStandup } from '../../../domain/summaries/markdown';
import type { Routes } from '../../../platform/http/routing/routes';
import { textResponse } from '../../../platform/http/text-response';
import type { ApiContext } from '../../context';
import { tasksOf } from '../metrics/read';
import { inTurn } from '../metrics/scan';
import { readStandup } from './standup';

const read = { method: 'get' as const, tag: 'summary', permission: 'report:read' };

/** What there is on the board, for people and for the memory of agents (supplement 10.9). */
export function summaryRoutes(
  routes: Routes,
  context: Pick<ApiContext, 'board' | 'telemetry' | 'activity' | 'now'>,
): void {
  routes.add(
    {
      ...read,
      path: '/summary',
      operationId: 'getSummary',
      summary: 'Summarize active tasks by status and project, with those of a high priority',
      response: boardSummary,
    },
    async () => summarizeBoard(tasksOf(context, {})),
  );

  routes.add(
    {
      ...read,
      path: '/summary/recent',
      operationId: 'getRecentSummary',
      summary: 'Summarize the tasks completed in the last hours, with those of a high priority',
      query: recentQuery,
      response: recentSummary,
    },
    async ({ query: { hours } }) => summarizeRecent(tasksOf(context, {}), hours, context.now()),
  );

  routes.add(
    {
      ...read,
      path: '/summary/memory',
      operationId: 'getMemorySummary',
      summary: 'Summarize the last hours as markdown for the memory of an agent',
      query: recentQuery,
      response: z.string(),
      mediaType: 'text/markdown',
    },
    async ({ query: { hours } }) => {
      const tasks = tasksOf(context, {});
      const now = { inProgress: withStatus(tasks, 'in-progress'), blocked: withStatus(tasks, 'blocked') };
      return textResponse(memoryMarkdown(summarizeRecent(tasks, hours, context.now()), now), 'text/markdown');
    },
  );

  routes.add(
    {
      ...read,
      path: '/summary/standup',
      operationId: 'getStandup',
      summary: 'Summarize a day for a stand-up, as JSON, markdown or text',
      query: standupQuery,
      response: standup,
      otherMediaTypes: ['text/markdown', 'text/plain'],
      errors: [429],
    },
    async ({ query: { format, ...query }, auth }) => {
      const answer = await inTurn(auth.actor, () => readStandup(context, query));
      if (format === 'json') {
        return answer;
      }
      return textResponse(renderStandup(answer, format), format === 'markdown' ? 'text/markdown' : 'text/plain');
    },
  );
}
