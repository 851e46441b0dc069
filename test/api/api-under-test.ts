import { Client, Connection } from '@temporalio/client';
import { type RunningApi, startApi, type StartOptions } from '../../api/start';
import { createBoardClient, unwrap } from '../../clients/typescript/src';
import type { Task } from '../../contracts/tasks/task';
import { readEnvironment } from '../../platform/config/env';
import { cancelAfterClose } from '../../platform/temporal/closed-connection';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { aNewTask, type NewTask } from '../support/factories/task';
import { mongoSettings } from '../support/mongo-settings';
import { watchedLog } from '../support/watched-log';

export const adminKey = 'admin-key-of-this-test-0123456789abcdef';
export const agentKey = 'agent-key-of-this-test-0123456789abcdef';
export const readKey = 'read-key-of-this-test-00123456789abcdef';

export interface CallOptions {
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Key to present; null presents none. The administrator's by default. */
  key?: string | null;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into answers of every shape
}

export interface ApiUnderTest {
  api: RunningApi;
  url: string;
  dataDir: string;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Creates a task with the typed client, as an administrator. */
  createTask(fields?: Partial<NewTask>): Promise<Task>;
  close(): Promise<void>;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** A whole API on a free port, with real stores and board files in a directory of its own; without what needs Temporal. */
export const startTestApi = (
  settings: Record<string, string> = {},
  options: Pick<StartOptions, 'registry'> = {},
): Promise<ApiUnderTest> => start(settings, options);

/**
 * The same with the routes that need Temporal.
 *
 * @param options a `client` of a Temporal server; without one there is none, and the routes are there for their contracts and
 *   for what they do in the stores
 */
export async function startWholeTestApi(
  settings: Record<string, string> = {},
  options: Client | StartOptions = {},
): Promise<ApiUnderTest> {
  const { client, ...others } = options instanceof Client ? { client: options } : options;
  if (client) {
    return start(settings, { client, ...others });
  }
  // Nothing listens there, however often it is asked.
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [cancelAfterClose] });
  const api = await start(settings, { client: new Client({ connection }), ...others });
  return {
    ...api,
    async close() {
      await api.close();
      await connection.close();
    },
  };
}

async function start(settings: Record<string, string>, options: StartOptions): Promise<ApiUnderTest> {
  const directory = await makeTempDir('api');
  const { log, assertSound } = watchedLog('silent');
  const startOne = async () => {
    const env = readEnvironment({
      BOARD_PORT: '0',
      BOARD_DATA_DIR: directory.path,
      BOARD_ADMIN_KEY: adminKey,
      BOARD_API_KEYS: `worker:${agentKey}:agent,viewer:${readKey}:read-only`,
      RATE_LIMIT_GLOBAL: '0',
      RATE_LIMIT_READ: '0',
      RATE_LIMIT_WRITE: '0',
      RATE_LIMIT_UPLOAD: '0',
      RATE_LIMIT_AUTH: '0',
      RATE_LIMIT_AUTH_FAILURES: '0',
      NODE_ENV: 'test',
      ...mongoSettings(),
      ...settings,
    });
    return startApi(env, log, options);
  };
  const api = await startOne().catch(async (error: unknown) => {
    await directory.remove();
    throw error;
  });
  const typed = createBoardClient({ url: api.url, key: adminKey });
  return {
    api,
    url: api.url,
    dataDir: directory.path,
    async call(method, path, { body, headers = {}, key = adminKey } = {}) {
      const response = await fetch(`${api.url}${path}`, {
        method,
        headers: {
          ...(key === null ? {} : { 'X-API-Key': key }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return { status: response.status, headers: response.headers, body: parse(await response.text()) };
    },
    createTask: (fields) => unwrap(typed.POST('/api/tasks', { body: aNewTask(fields) })),
    async close() {
      await api.close();
      await directory.remove();
      assertSound();
    },
  };
}
