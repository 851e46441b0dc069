import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { runExclusive } from '../../platform/operations/keyed-mutex';
import { backoffMs } from '../../platform/processes/backoff';
import { openToolServer } from './open-tool-server';
import { type ToolServerConnection, type ToolServerEnvironment, ToolServerError } from './tool-server';

export interface ToolServerHealth {
  serverId: string;
  definitionDigest: string;
  /** Whose connection it is, such as an attempt. */
  key: string;
  /** `ended`: it is started again with the next use. */
  state: 'ready' | 'ended';
  /** Failures in a row. */
  failures: number;
  lastError?: { code: string; message: string };
  /** When it may be started again, after a failure. */
  retryAt?: string;
}

export interface ToolServerPool {
  /**
   * Gives the connection of this definition and key to `work`; the server is started when it does not run. One that ended, or could
   * not be started, is started again after a pause that grows with each failure in a row.
   *
   * @throws ToolServerError, also `backing-off` when the pause takes longer than the server may take to start
   */
  use<T>(
    definition: ToolServerDefinition,
    key: string,
    work: (connection: ToolServerConnection) => Promise<T>,
  ): Promise<T>;
  /** Ends the servers of a key. */
  close(key: string): Promise<void>;
  /** Ends all servers; none is started any more. */
  closeAll(): Promise<void>;
  health(): ToolServerHealth[];
}

interface Entry {
  definition: ToolServerDefinition;
  key: string;
  connection?: ToolServerConnection;
  failures: number;
  lastError?: ToolServerError;
  retryAt: number;
  isStarting: boolean;
  /** Its key was closed: it starts no server any more. */
  isClosed: boolean;
}

const backoff = { firstMs: 500, maxMs: 60_000 } as const;
/** Servers that run or are being started at the same time. */
const maxServers = 64;
const isReady = ({ connection }: { connection?: ToolServerConnection | undefined }): boolean =>
  connection !== undefined && !connection.ended.aborted;
/** Distinguishes the servers of two pools of one process. */
let pools = 0;

export interface PoolOptions {
  open?: typeof openToolServer;
  now?: () => number;
  /** Waits so many milliseconds. */
  pause?: (ms: number) => Promise<void>;
}

/** Keeps one connection to each definition and key. */
export function createToolServerPool(
  environment: ToolServerEnvironment,
  { open = openToolServer, now = Date.now, pause = (ms) => sleep(ms) }: PoolOptions = {},
): ToolServerPool {
  const entries = new Map<string, Entry>();
  const pool = (pools += 1);
  let closed = false;
  const idOf = (definition: ToolServerDefinition, key: string): string => `${definition.digest}@${key}`;

  async function connectionOf(entry: Entry): Promise<ToolServerConnection> {
    const { definition, connection } = entry;
    if (connection && !connection.ended.aborted) {
      return connection;
    }
    if (connection) {
      delete entry.connection;
      failed(entry);
      await connection.close();
    }
    await untilDue(entry);
    assertStartable(entry);
    entry.isStarting = true;
    try {
      entry.connection = await open(definition, environment);
    } catch (error) {
      failed(entry, error);
      throw error;
    } finally {
      entry.isStarting = false;
    }
    return entry.connection;
  }

  function failed(entry: Entry, error?: unknown): void {
    entry.failures += 1;
    entry.retryAt = now() + backoffMs(entry.failures, backoff);
    if (error instanceof ToolServerError) {
      entry.lastError = error;
    }
  }

  async function untilDue({ definition, retryAt, lastError }: Entry): Promise<void> {
    const wait = retryAt - now();
    if (wait > definition.startupTimeoutMs) {
      const error = new ToolServerError({
        code: 'backing-off',
        message:
          `The tool server ${definition.displayName} failed several times in a row and is started again later. ${lastError?.message ?? ''}`.trim(),
        remedy: lastError?.remedy ?? 'Read what the server prints.',
      });
      error.retryAfterMs = wait;
      throw error;
    }
    if (wait > 0) {
      await pause(wait);
    }
  }

  function assertStartable({ definition: { displayName }, isClosed }: Entry): void {
    const running = [...entries.values()].filter((each) => each.isStarting || isReady(each)).length;
    if (closed || isClosed || running >= maxServers) {
      const reason = isClosed || closed ? 'what it served has ended' : `${maxServers} servers run on this worker`;
      throw new ToolServerError({
        code: 'too-many',
        message: `The tool server ${displayName} is not started: ${reason}.`,
        remedy: 'Repeat the request later.',
      });
    }
  }

  const closeEntries = async (all: [string, Entry][]): Promise<void> => {
    await Promise.all(
      all.map(([id, entry]) =>
        runExclusive(`tool-server/${pool}/${id}`, async () => {
          entry.isClosed = true;
          if (entries.get(id) === entry) {
            entries.delete(id);
          }
          await entry.connection?.close();
        }),
      ),
    );
  };

  return {
    async use(definition, key, work) {
      const id = idOf(definition, key);
      const entry = entries.get(id) ?? { definition, key, failures: 0, retryAt: 0, isStarting: false, isClosed: false };
      entries.set(id, entry);
      const connection = await runExclusive(`tool-server/${pool}/${id}`, () => connectionOf(entry));
      try {
        const result = await work(connection);
        entry.failures = 0;
        return result;
      } catch (error) {
        if (error instanceof ToolServerError) {
          entry.lastError = error;
        }
        throw error;
      }
    },

    close: (key) => closeEntries([...entries].filter(([, entry]) => entry.key === key)),

    async closeAll() {
      closed = true;
      await closeEntries([...entries]);
    },

    health: () =>
      [...entries.values()].map(({ definition, key, connection, failures, lastError, retryAt }) => ({
        serverId: definition.id,
        definitionDigest: definition.digest,
        key,
        state: isReady({ connection }) ? 'ready' : 'ended',
        failures,
        ...(lastError ? { lastError: { code: lastError.code, message: lastError.message } } : {}),
        ...(retryAt > now() ? { retryAt: new Date(retryAt).toISOString() } : {}),
      })),
  };
}
