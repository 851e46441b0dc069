import { queryOptions } from '@tanstack/react-query';
import { board, type Schema, unwrap } from '../api/client';
import { keys } from '../api/keys';

export const agentsQuery = queryOptions({
  queryKey: keys.agents,
  queryFn: () => unwrap(board.GET('/api/config/agents')),
});

export const reposQuery = queryOptions({
  queryKey: keys.repos,
  queryFn: async (): Promise<Schema<'Repository'>[]> => (await unwrap(board.GET('/api/config/repos'))).repos,
});
