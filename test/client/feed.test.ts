import WebSocket from 'ws';
import { BoardError, createBoardClient, unwrap } from '../../clients/typescript/src';
import { feedMessages, type FeedOptions, followRun } from '../../clients/typescript/src/feed';
import { pages } from '../../clients/typescript/src/pages';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { adminKey, type ApiUnderTest, startTestApi } from '../api/api-under-test';

/** A connection that is lost before it is reported that an attempt has ended. */
class CutSocket extends WebSocket {
  override emit(event: string, ...values: unknown[]): boolean {
    if (event === 'message' && String(values[0]).includes('"agent:complete"')) {
      this.terminate();
      return false;
    }
    return super.emit(event, ...values);
  }
}

describe('feed of the client', () => {
  let board: ApiUnderTest;
  let sockets: WebSocket[];
  beforeEach(() => {
    sockets = [];
  });
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const options = (more: Partial<FeedOptions> = {}): FeedOptions => ({
    url: board.url,
    key: adminKey,
    firstWaitMs: 1,
    connect: (url) => {
      const socket = new WebSocket(url);
      sockets.push(socket);
      return socket;
    },
    ...more,
  });

  let attempts = 0;
  /** An attempt that runs, and what appends to its events. */
  async function anAttempt(state: 'running' | 'ended' = 'running') {
    const { id: taskId } = await board.createTask();
    attempts += 1;
    const attemptId = `attempt_feedclient${attempts}`;
    await board.api.context.attempts.create({
      _id: attemptId,
      taskId,
      state,
      createdAt: new Date().toISOString(),
      objective: { title: 'x' },
    } as AttemptRecord);
    const source = { taskId, attemptId, provider: 'process', agent: 'bee' };
    const append = (n: number) =>
      board.api.context.events.append(source, [
        { kind: 'stream.stdout', payload: { text: `line ${n}` }, dedupeKey: `n-${n}` },
      ]);
    const end = () =>
      board.api.context.events.append(source, [
        { kind: 'run.completed', payload: { status: 'success' }, dedupeKey: 'end' },
      ]);
    return { taskId, attemptId, append, end };
  }

  it('has the events of a run once and in order, also those of lost connections, until the run ends', async () => {
    const { append, end, ...run } = await anAttempt();
    await append(1);
    await append(2);
    const sequences: number[] = [];
    for await (const { sequence } of followRun(options(), run)) {
      sequences.push(sequence);
      if (sequence === 2) {
        sockets.at(-1)!.terminate();
        await append(3);
      }
      if (sequence === 3) {
        await append(4);
        sockets.at(-1)!.terminate();
      }
      if (sequence === 4) {
        await end();
      }
    }
    expect(sequences).toEqual([1, 2, 3, 4, 5]);
    expect(sockets.length).toBe(3);
  });

  it('ends with the last event of a run, whether or not anything comes after it', async () => {
    const { append, end, ...run } = await anAttempt();
    await append(1);
    await end();
    const sequences: number[] = [];
    for await (const { sequence } of followRun(options({ connect: (url) => new CutSocket(url) }), run)) {
      sequences.push(sequence);
    }
    expect(sequences).toEqual([1, 2]);
  });

  it('ends at once when the last event of an ended run was received before', async () => {
    const { append, end, ...run } = await anAttempt('ended');
    await append(1);
    await end();
    for await (const { sequence } of followRun(options(), { ...run, afterSequence: 2 })) {
      throw new Error(`The event ${sequence} was received again.`);
    }
  });

  it('subscribes again when the board failed to do it', async () => {
    const { append, end, ...run } = await anAttempt();
    await append(1);
    await end();
    const failing = jest.spyOn(board.api.context.attempts, 'get').mockRejectedValueOnce(new Error('away'));
    const sequences: number[] = [];
    for await (const { sequence } of followRun(options(), run)) {
      sequences.push(sequence);
    }
    failing.mockRestore();
    expect(sequences).toEqual([1, 2]);
    expect(sockets.length).toBe(2);
  });

  it('resumes after a sequence', async () => {
    const { append, end, ...run } = await anAttempt();
    await append(1);
    await append(2);
    await end();
    const sequences: number[] = [];
    for await (const { sequence } of followRun(options(), { ...run, afterSequence: 1 })) {
      sequences.push(sequence);
    }
    expect(sequences).toEqual([2, 3]);
  });

  it('has changes of tasks until its signal ends it, and closes its connection', async () => {
    const ended = new AbortController();
    const messages = feedMessages(options({ signal: ended.signal }), () => [{ type: 'subscribe:tasks' }]);
    const titles: string[] = [];
    for await (const message of messages) {
      if ((message.type as string) === 'tasks:subscribed') {
        await board.createTask({ title: 'Watched by a client' });
      }
      if (message.type === 'task:updated') {
        titles.push(message.task.title);
        ended.abort();
      }
    }
    expect(titles).toEqual(['Watched by a client']);
    expect(sockets.every(({ readyState }) => readyState >= WebSocket.CLOSING)).toBe(true);
  });

  it('closes its connection when its reader stops', async () => {
    for await (const message of feedMessages(options(), () => [{ type: 'subscribe:tasks' }])) {
      expect(message).toBeDefined();
      break;
    }
    expect(sockets[0]!.readyState).toBeGreaterThanOrEqual(WebSocket.CLOSING);
  });

  it('is refused with a key that is not valid, and for a run that does not exist', async () => {
    const run = { taskId: 'task_20260101_nobody', attemptId: 'attempt_nobody0001' };
    const withoutKey = followRun(options({ key: 'not-a-key-of-this-board-at-all' }), run);
    await expect(withoutKey.next()).rejects.toMatchObject({ status: 401 });
    await expect(followRun(options(), run).next()).rejects.toThrow(BoardError);
  });

  it('names what it lacks on a platform without WebSocket', async () => {
    const own = globalThis as { WebSocket?: unknown };
    const { WebSocket: platform } = own;
    delete own.WebSocket;
    try {
      const { connect: _connect, ...plain } = options();
      await expect(feedMessages(plain, () => []).next()).rejects.toThrow('"connect"');
    } finally {
      own.WebSocket = platform;
    }
  });
});

describe('pages of the client', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  it('are read by their cursors to the end', async () => {
    const client = createBoardClient({ url: board.url, key: adminKey });
    const ids = [];
    for (const title of ['one', 'two', 'three', 'four', 'five']) {
      ids.push((await unwrap(client.POST('/api/tasks', { body: { title } }))).id);
    }
    const sizes: number[] = [];
    const found: string[] = [];
    const read = (cursor: string | undefined) =>
      client.GET('/api/tasks', { params: { query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) } } });
    for await (const { tasks } of pages(read)) {
      sizes.push(tasks.length);
      found.push(...tasks.map(({ id }) => id));
    }
    expect(sizes).toEqual([2, 2, 1]);
    expect(found.sort()).toEqual(ids.sort());
  });

  it('end with the refusal of one of them', async () => {
    const client = createBoardClient({ url: board.url });
    await expect(pages(() => client.GET('/api/tasks')).next()).rejects.toMatchObject({ status: 401 });
  });
});
