import type { WebSocket } from 'ws';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { FeedWatcher } from './watcher';

/** A watcher of a workspace, and the texts that its socket was given. */
function aWatcher(workspaceId: string) {
  const sent: string[] = [];
  const socket = {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send: (text: string) => sent.push(text),
    close: jest.fn((_code: number, _reason: string) => {
      socket.readyState = 2;
    }),
    terminate: jest.fn(),
  };
  const auth = { workspaceId, permissions: [] } as Partial<AuthContext> as AuthContext;
  return { watcher: new FeedWatcher(socket as unknown as WebSocket, auth), socket, sent };
}

describe('watcher', () => {
  test('a notice is written as text once for all watchers of a workspace', () => {
    const toJSON = jest.fn(() => 'local');
    const notice = { type: 'connected' as const, workspaceId: 'local', task: { toJSON } };
    const watchers = [aWatcher('local'), aWatcher('local'), aWatcher('local')];
    for (const { watcher } of watchers) {
      watcher.send(notice);
    }
    expect(toJSON).toHaveBeenCalledTimes(1);
    expect(new Set(watchers.map(({ sent }) => sent.join())).size).toBe(1);
  });

  test('a watcher of another workspace is sent its own', () => {
    const notice = { type: 'tasks:subscribed' as const };
    const [here, there] = [aWatcher('local'), aWatcher('ws-other')];
    here.watcher.send(notice);
    there.watcher.send(notice);
    expect(JSON.parse(here.sent[0] ?? '')).toMatchObject({ type: 'tasks:subscribed', workspaceId: 'local' });
    expect(JSON.parse(there.sent[0] ?? '')).toMatchObject({ type: 'tasks:subscribed', workspaceId: 'ws-other' });
  });

  test('one that is too slow has time to read why it is dropped, and is sent nothing more', () => {
    jest.useFakeTimers();
    try {
      const { watcher, socket, sent } = aWatcher('local');
      socket.bufferedAmount = 1_000_001;
      watcher.send({ type: 'tasks:subscribed' });
      watcher.send({ type: 'tasks:subscribed' });
      expect(socket.close.mock.calls).toEqual([[1013, expect.stringContaining('resume from your last sequence')]]);
      expect(sent).toEqual([]);
      jest.advanceTimersByTime(9_000);
      expect(socket.terminate).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1_000);
      expect(socket.terminate).toHaveBeenCalled();
    } finally {
      jest.useRealTimers();
    }
  });
});
