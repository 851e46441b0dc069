import { createServer } from 'node:http';
import { join } from 'node:path';
import { WatcherCount, type WatcherLimits } from '../../../api/system/feed/admission';
import { FeedHub, type HubContext } from '../../../api/system/feed/hub';
import { defaultFeedSettings, type FeedServerSettings, serveFeed } from '../../../api/system/feed/routes';
import { rolePermissions } from '../../../contracts/permissions';
import { createIdentifier } from '../../../platform/http/auth/auth';
import { type AuthFailure, createAuthFailures } from '../../../platform/http/auth/auth-failures';
import { socketAddress } from '../../../platform/http/limits/caller-address';
import { createLog } from '../../../platform/log/log';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { createBoard } from '../../../stores/board-files/board';
import { createAgentStatusStore } from '../../../stores/chat/agent-status-store';
import { createChatStore } from '../../../stores/chat/session-store';
import { openDatabase } from '../../../stores/port/open';
import { createApprovalStore } from '../../../stores/runs/approval-store';
import { type AttemptRecord, createAttemptStore } from '../../../stores/runs/attempt-store';
import { createRunEventStore } from '../../../stores/runs/event-store';
import { createFeedStore } from '../../../stores/system/feed-store';
import { TestWatcher } from '../../support/watcher';

const log = createLog({ name: 'test', level: 'silent' });
const keys = [
  { name: 'agent', key: 'agent-key-agent-key', role: 'agent' as const },
  { name: 'reader', key: 'reader-key-reader-key', role: 'read-only' as const },
];

type FeedOptions = Partial<FeedServerSettings & WatcherLimits>;

const closers: (() => Promise<unknown>)[] = [];

/** Closes the feeds of a test. */
export async function closeFeeds(): Promise<void> {
  for (const close of closers.splice(0).reverse()) {
    await close();
  }
}

/** A feed on real stores, or on what `interpose` makes of them, and a real server, with `settings` of its own. */
export async function aFeed(
  { maxWatchers = 1_000, maxWatchersPerAddress = 200, ...settings }: FeedOptions = {},
  interpose: (context: HubContext) => HubContext = (context) => context,
) {
  const dir = await makeTempDir('feed');
  closers.push(() => dir.remove());
  const database = await openDatabase({ dataDir: dir.path, log });
  closers.push(() => database.close());
  const board = await createBoard({ dir: join(dir.path, 'tasks'), log });
  closers.push(() => board.close());
  const feed = await createFeedStore(database);
  const events = await createRunEventStore(database, feed);
  const attempts = await createAttemptStore(database);
  const approvals = await createApprovalStore(database);
  const agentStatus = await createAgentStatusStore(database);
  const chats = await createChatStore(database);
  const hub = new FeedHub(interpose({ board, agentStatus, chats, approvals, attempts, events, feed, log }));
  await hub.start();
  closers.push(() => hub.stop());
  const server = createServer();
  const origins = { allowedOrigins: ['https://board.example'], allowLocalOrigins: false };
  const identify = createIdentifier({ enabled: true, apiKeys: keys, rolePermissions, origins, verifiers: [] });
  const failures: AuthFailure[] = [];
  const authFailures = createAuthFailures({ limit: 5, report: (failure) => failures.push(failure) });
  const served = serveFeed(server, {
    enter: async (auth) => ({ auth, hub }),
    identify,
    redeemTicket: async () => undefined,
    authFailures,
    watchers: new WatcherCount({ maxWatchers, maxWatchersPerAddress }),
    log,
    settings: {
      ...defaultFeedSettings,
      ...origins,
      addressOf: socketAddress,
      ...settings,
    },
  });
  closers.push(() => served.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const open = async (query = '?api_key=agent-key-agent-key', headers: Record<string, string> = {}) => {
    const watcher = await TestWatcher.open(url, { headers }, query);
    closers.push(async () => watcher.close());
    return watcher;
  };
  return { url, open, hub, board, attempts, events, feed, failures };
}

export type Feed = Awaited<ReturnType<typeof aFeed>>;

/** An attempt with `count` events, as its run would have left it. */
export async function anAttempt(
  { board, attempts, events }: Feed,
  count: number,
  id = 'attempt_aaaaaaaa01',
  taskId?: string,
) {
  const task = taskId === undefined ? await board.create({ title: 'Watched' }, { actor: 'test' }) : { id: taskId };
  const record = {
    _id: id,
    taskId: task.id,
    state: 'running',
    createdAt: new Date().toISOString(),
    objective: { title: 'x' },
  };
  await attempts.create(record as AttemptRecord);
  const source = { taskId: task.id, attemptId: id, provider: 'process', agent: 'bee' };
  const append = (n: number, text = `line ${n}`) =>
    events.append(source, [{ kind: 'stream.stdout', payload: { text }, dedupeKey: `n-${n}` }]);
  for (let n = 1; n <= count; n += 1) {
    await append(n);
  }
  return { taskId: task.id, attemptId: id, append, source };
}
