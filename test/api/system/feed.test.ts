import WebSocket from 'ws';
import { eventually } from '../../../platform/testing/eventually';
import { TestWatcher } from '../../support/watcher';
import { rawBytes, resetAfter } from '../http/raw-request';
import { aFeed, anAttempt, closeFeeds } from './feed-under-test';

describe('event feed', () => {
  afterEach(closeFeeds);

  const upgradeRequest = (target: string): string =>
    `GET ${target} HTTP/1.1\r\nHost: board\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
  const upgradeReply = (url: string, target: string) => rawBytes(url, upgradeRequest(target));

  const closed = (watcher: TestWatcher) =>
    eventually(() => {
      if (!watcher.closed) {
        throw new Error('still open');
      }
      return watcher.closed;
    });

  test('a watcher without a valid key is closed with 4001', async () => {
    const feed = await aFeed();
    for (const query of ['', '?api_key=wrong']) {
      await expect(closed(await feed.open(query))).resolves.toMatchObject({ code: 4001 });
    }
  });

  test.each([
    ['no Origin', undefined, true],
    ['a listed Origin', 'https://board.example', true],
    ['another Origin', 'https://evil.example', false],
    ['this machine, where that is off', 'http://localhost:5173', false],
    ['a broken Origin', 'null', false],
  ])('%s', async (_name, origin, allowed) => {
    const feed = await aFeed();
    const opening = feed.open(undefined, origin === undefined ? {} : { origin });
    if (allowed) {
      await expect(opening).resolves.toBeDefined();
    } else {
      await expect(opening).rejects.toThrow('403');
    }
  });

  test.each([
    ['in all', { maxWatchers: 2 }],
    ['of one address', { maxWatchersPerAddress: 2 }],
  ])('beyond the most watchers %s, the next one is closed with 1013', async (_name, limits) => {
    const feed = await aFeed(limits);
    const first = await feed.open();
    await feed.open();
    await expect(closed(await feed.open())).resolves.toMatchObject({
      code: 1013,
      reason: expect.stringMatching(/at most 2 watchers/),
    });
    first.close();
    await eventually(async () => {
      const next = await feed.open();
      await next.receives(({ type }) => type === 'connected', 500);
    });
  });

  test('connections without a key do not keep watchers out, and are ended whether they take part or not', async () => {
    const feed = await aFeed({ maxWatchers: 1 });
    const strangers = await Promise.all(Array.from({ length: 5 }, () => feed.open('')));
    // Nothing that is sent to them is read, so that they never see the close frame.
    for (const { socket } of strangers) {
      socket.pause();
    }
    const watcher = await feed.open();
    await watcher.receives(({ type }) => type === 'connected');
    for (const { socket } of strangers) {
      socket.resume();
      await eventually(() => expect(socket.readyState).toBe(WebSocket.CLOSED));
    }
  });

  test('failed authentications of an address are reported once and then refused with 429, valid keys are not', async () => {
    const feed = await aFeed();
    for (let n = 0; n < 5; n += 1) {
      await expect(closed(await feed.open('?api_key=wrong'))).resolves.toMatchObject({ code: 4001 });
    }
    const refused = await upgradeReply(feed.url, '/ws?api_key=wrong');
    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused).toMatch(/\r\nX-RateLimit-Limit: 5\r\n/);
    expect(refused).toMatch(/\r\nRetry-After: \d+\r\n/);
    expect(refused).toContain('"code":"RATE_LIMITED"');
    expect(feed.failures).toEqual([{ address: '127.0.0.1', via: 'ws', presented: true }]);
    const watcher = await feed.open();
    await watcher.receives(({ type }) => type === 'connected');
  });

  test.each([
    ['/', 404],
    ['/ws/../ws', 400],
    ['//', 400],
    ['/WS', 404],
    ['*', 400],
    ['http://[::1', 400],
    ['http://elsewhere/ws', 400],
  ])('an upgrade of %s is refused in the envelope', async (target, status) => {
    const feed = await aFeed();
    const refused = await upgradeReply(feed.url, target);
    expect(refused).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(refused).toContain('"code":');
  });

  test('a refused upgrade that is reset ends nothing else', async () => {
    const feed = await aFeed();
    for (let n = 0; n < 20; n += 1) {
      await resetAfter(feed.url, upgradeRequest('//'));
    }
    await expect(feed.open()).resolves.toBeDefined();
  });

  test('a watcher that does not answer pings is ended', async () => {
    const feed = await aFeed({ pingEveryMs: 50, pongWithinMs: 100 });
    const alive = await feed.open();
    const deaf = await TestWatcher.open(feed.url, { autoPong: false }, '?api_key=agent-key-agent-key');
    await expect(closed(deaf)).resolves.toMatchObject({ code: 1006 });
    expect(alive.closed).toBeUndefined();
  });

  test('too many messages end the connection', async () => {
    const feed = await aFeed({ maxMessages: 5 });
    const watcher = await feed.open();
    for (let n = 0; n < 6; n += 1) {
      watcher.send({ type: 'subscribe:tasks' });
    }
    await expect(closed(watcher)).resolves.toMatchObject({ code: 4008 });
  });

  test.each([
    ['not JSON', '{', 'BAD_REQUEST'],
    ['an unknown type', { type: 'shout' }, 'VALIDATION_ERROR'],
    ['a hostile id', { type: 'subscribe', taskId: '../../etc/passwd' }, 'VALIDATION_ERROR'],
    [
      'a negative sequence',
      { type: 'subscribe', taskId: 'task_20260101_aaaaaa', afterSequence: -1 },
      'VALIDATION_ERROR',
    ],
    ['an unknown task', { type: 'subscribe', taskId: 'task_20260101_aaaaaa' }, 'NOT_FOUND'],
    [
      'an unknown attempt',
      { type: 'subscribe', taskId: 'task_20260101_aaaaaa', attemptId: 'attempt_bbbbbbbb' },
      'NOT_FOUND',
    ],
  ])('%s is answered with an error and the connection stays', async (_name, message, code) => {
    const feed = await aFeed();
    const watcher = await feed.open();
    watcher.send(message);
    await expect(watcher.receives(({ type }) => type === 'error')).resolves.toMatchObject({ code });
    watcher.send({ type: 'subscribe:tasks' });
    await watcher.receives(({ type }) => type === 'tasks:subscribed');
  });

  test('an oversized message ends the connection and nothing else', async () => {
    const feed = await aFeed();
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId: 'x'.repeat(100_000) });
    await expect(closed(watcher)).resolves.toMatchObject({ code: 1009 });
    await expect(feed.open()).resolves.toBeDefined();
  });

  test('a subscription replays what is there after a sequence and continues live, each event once', async () => {
    const feed = await aFeed();
    const { taskId, attemptId, append } = await anAttempt(feed, 450);
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId, attemptId, afterSequence: 200 });
    for (let n = 451; n <= 460; n += 1) {
      await append(n);
    }
    await watcher.receives(({ type, sequence }) => type === 'agent:event' && sequence === 460);
    expect(watcher.sequences(attemptId)).toEqual(Array.from({ length: 260 }, (_, n) => 201 + n));
    expect(watcher.of('agent:output').at(-1)).toMatchObject({ outputType: 'stdout', data: 'line 460', sequence: 460 });
    expect(watcher.of('subscribed')).toHaveLength(1);
  });

  test('a retry is followed after the attempt it follows, also by a watcher that was away', async () => {
    const feed = await aFeed();
    const first = await anAttempt(feed, 3);
    const second = await anAttempt(feed, 2, 'attempt_aaaaaaaa02', first.taskId);
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId: first.taskId, attemptId: first.attemptId, afterSequence: 1 });
    const third = await anAttempt(feed, 1, 'attempt_aaaaaaaa03', first.taskId);
    await watcher.receives(({ type, attemptId }) => type === 'agent:event' && attemptId === third.attemptId);
    const reported = watcher.of('agent:event').map(({ attemptId, sequence }) => `${attemptId.slice(-2)}:${sequence}`);
    expect(reported).toEqual(['01:2', '01:3', '02:1', '02:2', '03:1']);
    expect(second.taskId).toBe(first.taskId);
  });

  test('a new subscription replaces the former one', async () => {
    const feed = await aFeed();
    const first = await anAttempt(feed, 1);
    const second = await anAttempt(feed, 1, 'attempt_aaaaaaaa02');
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId: first.taskId });
    await watcher.receives(({ type, attemptId }) => type === 'agent:event' && attemptId === first.attemptId);
    watcher.send({ type: 'subscribe', taskId: second.taskId });
    await watcher.receives(({ type, attemptId }) => type === 'agent:event' && attemptId === second.attemptId);
    await first.append(2);
    await second.append(2);
    await watcher.receives(
      ({ type, attemptId, sequence }) => type === 'agent:event' && attemptId === second.attemptId && sequence === 2,
    );
    expect(watcher.sequences(first.attemptId)).toEqual([1]);
  });

  test('a watcher that reads nothing is dropped instead of being buffered for, and others do not wait for it', async () => {
    const feed = await aFeed();
    const slow = await feed.open();
    const quick = await feed.open();
    slow.socket.pause();
    const description = 'x'.repeat(90_000);
    let last = '';
    for (let n = 0; n < 60; n += 1) {
      last = (await feed.board.create({ title: `Task ${n}`, description }, { actor: 'test' })).id;
    }
    await quick.receives(({ type, task }) => type === 'task:updated' && task.id === last);
    slow.socket.resume();
    await closed(slow);
    expect(slow.closed).toMatchObject({
      code: 1013,
      reason: expect.stringContaining('resume from your last sequence'),
    });
    expect(slow.of('task:updated').length).toBeLessThan(60);
  });

  test('a read-only key watches; changes of tasks reach everybody who did not choose otherwise', async () => {
    const feed = await aFeed();
    const reader = await feed.open('?api_key=reader-key-reader-key');
    const elsewhere = await feed.open();
    elsewhere.send({ type: 'subscribe', channel: 'agent:status' });
    await elsewhere.receives(({ type }) => type === 'agent:status');
    const task = await feed.board.create({ title: 'Seen' }, { actor: 'test' });
    await reader.receives(({ type, task: seen }) => type === 'task:updated' && seen.id === task.id);
    expect(elsewhere.of('task:updated')).toEqual([]);
  });
});
