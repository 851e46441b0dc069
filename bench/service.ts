import { type BoardClient, createBoardClient, unwrap } from '../clients/typescript/src';
import type { components } from '../clients/typescript/src/types';
import type { RunningService } from '../scripts/start-all';

/** Of a service that is measured: open to this machine, without limits, and quiet. */
export const openService = {
  PATH: process.env.PATH,
  // As operators run it: our own responses are not checked.
  NODE_ENV: 'production',
  HOME: process.env.HOME,
  BOARD_AUTH_ENABLED: 'false',
  RATE_LIMIT_GLOBAL: '0',
  RATE_LIMIT_READ: '0',
  RATE_LIMIT_WRITE: '0',
  RATE_LIMIT_UPLOAD: '0',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
};

/** The store that a benchmark is run against: the embedded one, or the MongoDB that `scripts/with-mongo.mjs` names. */
export const storeOfBench = (): Record<string, string> =>
  process.env.MONGODB_URL === undefined ? {} : { MONGODB_URL: process.env.MONGODB_URL };

type Schemas = components['schemas'];

/** A run that was started. */
export interface Run {
  taskId: string;
  attemptId: string;
}

/** The client that measures a service, as users have it: each POST has an idempotency key. */
export const boardOf = ({ apiUrl }: Pick<RunningService, 'apiUrl'>): BoardClient => createBoardClient({ url: apiUrl });

export const configureAgents = (board: BoardClient, agents: Schemas['AgentConfigInput'][]) =>
  unwrap(board.PUT('/api/config/agents', { body: { agents } }));

export const addRepository = (board: BoardClient, body: Schemas['RepositoryInput']) =>
  unwrap(board.POST('/api/config/repos', { body }));

/** Creates a task and returns its id. */
export async function createTask(board: BoardClient, body: Schemas['TaskCreate']): Promise<string> {
  return (await unwrap(board.POST('/api/tasks', { body }))).id;
}

export async function startRun(board: BoardClient, taskId: string, body: Schemas['LaunchRequest'] = {}): Promise<Run> {
  const params = { path: { taskId } };
  const { attemptId } = await unwrap(board.POST('/api/agents/{taskId}/start', { params, body }));
  return { taskId, attemptId };
}

export const stopRun = (board: BoardClient, { taskId, attemptId }: Run) =>
  unwrap(board.POST('/api/agents/{taskId}/stop', { params: { path: { taskId } }, body: { attemptId } }));
