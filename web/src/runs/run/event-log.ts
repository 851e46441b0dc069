import { board, type RunEvent, unwrap } from '../../api/client';
import { follow, listen } from '../../live/connection';
import { createStore, type Store } from '../../ui/store';
import { createStory, type Story } from './story';

export interface EventLog {
  /** Every event so far, in order; the array is appended to, and `version` changes with it. */
  events: RunEvent[];
  story: Story;
  version: number;
  /** Whether what was recorded before has been read. */
  loaded: boolean;
  ended: boolean;
  error: unknown;
}

/** The last event of an attempt: everything else of its end is stored before. */
const terminal: ReadonlySet<RunEvent['kind']> = new Set([
  'run.completed',
  'run.failed',
  'run.interrupted',
  'run.refused',
]);

const pageSize = 500;

interface FollowedLog {
  log: Store<EventLog>;
  stop: () => void;
}

/**
 * Reads the events of an attempt, and then follows it over the feed from the last sequence, so that none is missed and none
 * is shown twice, beyond lost connections.
 */
export function followEvents(taskId: string, attemptId: string): FollowedLog {
  const events: RunEvent[] = [];
  const story = createStory();
  const log = createStore<EventLog>({
    events,
    story: story.story,
    version: 0,
    loaded: false,
    ended: false,
    error: undefined,
  });
  const controller = new AbortController();
  const { signal } = controller;
  let last = 0;
  let ended = false;
  let scheduled = 0;

  const publish = (changes: Partial<EventLog> = {}) =>
    log.set((present) => ({ ...present, ...changes, ended, story: story.story, version: present.version + 1 }));
  const publishSoon = () => {
    scheduled ||= requestAnimationFrame(() => {
      scheduled = 0;
      publish();
    });
  };
  const add = (event: RunEvent) => {
    // The feed may begin with what was read already.
    if (event.sequence <= last) {
      return;
    }
    last = event.sequence;
    events.push(event);
    story.add(event);
    ended ||= terminal.has(event.kind);
  };
  const load = async () => {
    for (let hasMore = true; hasMore && !signal.aborted;) {
      const page = await unwrap(
        board.GET('/api/agents/{taskId}/attempts/{attemptId}/events', {
          params: { path: { taskId, attemptId }, query: { afterSequence: last, limit: pageSize } },
          signal,
        }),
      );
      page.events.forEach(add);
      hasMore = page.hasMore;
      publish();
    }
  };

  const stops: (() => void)[] = [];
  const start = async () => {
    await load();
    if (signal.aborted) {
      return;
    }
    publish({ loaded: true });
    stops.push(
      listen((message) => {
        if (message.type === 'agent:event' && message.attemptId === attemptId) {
          add(message.data);
          publishSoon();
        }
        const isEnd = message.type === 'agent:complete' || (message.type === 'subscribed' && !message.running);
        if (isEnd && message.attemptId === attemptId) {
          ended = true;
          publish();
        }
      }),
      follow({ taskId, attemptId, after: () => last }),
    );
  };
  void start().catch((error: unknown) => !signal.aborted && publish({ error, loaded: true }));
  return {
    log,
    stop: () => {
      controller.abort();
      cancelAnimationFrame(scheduled);
      stops.forEach((stop) => stop());
    },
  };
}
