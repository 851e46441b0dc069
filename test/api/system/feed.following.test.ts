import type { HubContext } from '../../../api/system/feed/hub';
import { eventually } from '../../../platform/testing/eventually';
import { StoreUnavailableError } from '../../../stores/port/errors';
import { aFeed, anAttempt, closeFeeds } from './feed-under-test';

/** Stores whose first look for the latest attempt of a task waits until it is released. */
function slowFirstLookup() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let lookups = 0;
  const interpose = (context: HubContext): HubContext => ({
    ...context,
    attempts: {
      ...context.attempts,
      latest: async (taskId) => {
        lookups += 1;
        await (lookups === 1 ? released : undefined);
        return context.attempts.latest(taskId);
      },
    },
  });
  const begun = () =>
    eventually(() => {
      if (lookups === 0) {
        throw new Error('not looked up yet');
      }
    });
  return { interpose, begun, release: () => release() };
}

/** Stores whose reads of events fail `times` times. */
const failingReads =
  (times: number, error: Error) =>
  (context: HubContext): HubContext => {
    let left = times;
    const read: HubContext['events']['read'] = async (...page) => {
      left -= 1;
      if (left >= 0) {
        throw error;
      }
      return context.events.read(...page);
    };
    return { ...context, events: { ...context.events, read } };
  };

describe('following a task', () => {
  afterEach(closeFeeds);

  it('follows the task that was subscribed last, however long the first one took to look up', async () => {
    const slow = slowFirstLookup();
    const feed = await aFeed({}, slow.interpose);
    const first = await anAttempt(feed, 0);
    const second = await anAttempt(feed, 0, 'attempt_aaaaaaaa02');
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId: first.taskId });
    watcher.send({ type: 'subscribe', taskId: second.taskId });
    await slow.begun();
    slow.release();
    await eventually(() => expect(watcher.of('subscribed')).toHaveLength(2));
    await first.append(1);
    await second.append(1);
    await watcher.receives(({ type }) => type === 'agent:event');
    expect(watcher.of('subscribed').map(({ taskId }) => taskId)).toEqual([first.taskId, second.taskId]);
    expect([watcher.sequences(first.attemptId), watcher.sequences(second.attemptId)]).toEqual([[], [1]]);
  });

  it('ends with an unsubscription that was sent before the task was looked up', async () => {
    const slow = slowFirstLookup();
    const feed = await aFeed({}, slow.interpose);
    const { taskId } = await anAttempt(feed, 1);
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId });
    watcher.send({ type: 'unsubscribe' });
    await slow.begun();
    slow.release();
    await expect(watcher.receives(({ type }) => type === 'unsubscribed')).resolves.toMatchObject({ taskId });
  });

  it('retains nothing of a connection that was closed before the task was looked up', async () => {
    const slow = slowFirstLookup();
    const feed = await aFeed({}, slow.interpose);
    const { taskId } = await anAttempt(feed, 1);
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId });
    await slow.begun();
    watcher.close();
    await eventually(() => expect(feed.hub['watchers'].size).toBe(0));
    slow.release();
    const other = await feed.open();
    other.send({ type: 'subscribe', taskId });
    await other.receives(({ type }) => type === 'agent:event');
    expect(feed.hub['followers'].size).toBe(1);
  });

  it('sends all events although the stores were away when they came', async () => {
    const feed = await aFeed({}, failingReads(3, new StoreUnavailableError('away')));
    const { taskId, attemptId, append } = await anAttempt(feed, 0);
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId });
    await watcher.receives(({ type }) => type === 'subscribed');
    await append(1);
    await watcher.receives(({ type }) => type === 'agent:event');
    expect(watcher.sequences(attemptId)).toEqual([1]);
  });

  it('closes the connection when events cannot be read, so that its watcher resumes', async () => {
    const feed = await aFeed({}, failingReads(1, new Error('broken')));
    const { taskId } = await anAttempt(feed, 1);
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId });
    await eventually(() => expect(watcher.closed).toMatchObject({ code: 1013 }));
  });

  it('sends every later attempt of the task in order, however many there are', async () => {
    const feed = await aFeed();
    const { taskId, attemptId } = await anAttempt(feed, 1);
    const ids = Array.from({ length: 60 }, (_, n) => `attempt_bbbbbbbb${String(n).padStart(2, '0')}`);
    for (const id of ids) {
      await anAttempt(feed, 1, id, taskId);
    }
    const watcher = await feed.open();
    watcher.send({ type: 'subscribe', taskId, attemptId, afterSequence: 0 });
    await watcher.receives((message) => message.type === 'agent:event' && message.attemptId === ids.at(-1));
    expect(watcher.of('agent:event').map((message) => message.attemptId)).toEqual([attemptId, ...ids]);
  });
});
