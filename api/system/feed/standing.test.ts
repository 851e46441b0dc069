import type { WebSocket } from 'ws';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { createLog } from '../../../platform/log/log';
import { Standings } from './standing';
import { FeedWatcher } from './watcher';

const caller = (fields: Partial<AuthContext> = {}): AuthContext => ({
  role: 'agent',
  userId: 'ada',
  workspaceId: 'local',
  actorType: 'user',
  authMethod: 'session',
  carrier: 'cookie',
  tokenName: 'ada',
  permissions: ['task:read'],
  actor: 'user:ada',
  ...fields,
});
const request = { headers: {}, connection: {} };

/** The connections of one credential, whose caller is `standing` whenever it is verified. */
function connections(count: number) {
  let nowMs = 0;
  let standing: AuthContext | undefined | Error = caller();
  let verified = 0;
  const identify = async (): Promise<AuthContext | undefined> => {
    verified += 1;
    if (standing instanceof Error) {
      throw standing;
    }
    return standing;
  };
  const standings = new Standings(identify, createLog({ name: 'test', level: 'silent' }), () => nowMs);
  const opened = Array.from({ length: count }, () => {
    const sent: string[] = [];
    const closed: number[] = [];
    const socket = {
      readyState: 1,
      OPEN: 1,
      bufferedAmount: 0,
      send: (text: string) => sent.push((JSON.parse(text) as { taskId: string }).taskId),
      close(code: number) {
        closed.push(code);
        this.readyState = 2;
      },
      terminate: () => undefined,
    };
    const shared = standings.of(caller(), [{ carrier: 'cookie', value: 'a' }], request)!;
    // Of a socket a watcher uses these members only.
    const watcher = new FeedWatcher(socket as unknown as WebSocket, caller(), shared);
    shared.add(watcher);
    return { watcher, sent, closed, shared };
  });
  return {
    opened,
    notify: (taskId: string) =>
      opened.forEach(({ watcher }) =>
        watcher.send({ type: 'task:changed', changeType: 'updated', taskId, location: 'active' }),
      ),
    pass: (ms: number) => (nowMs += ms),
    becomes: (next: AuthContext | undefined | Error) => (standing = next),
    verify: () => opened[0]!.shared.verify(),
    verified: () => verified,
    close: () => standings.close(),
  };
}

describe('the callers of open connections', () => {
  let open: ReturnType<typeof connections>;
  beforeEach(() => (open = connections(3)));
  afterEach(() => open.close());

  it('receive at once what happens while they were verified a moment ago, all by one verification', async () => {
    open.notify('TASK-1');
    expect(open.opened.map(({ sent }) => sent)).toEqual([['TASK-1'], ['TASK-1'], ['TASK-1']]);
    await open.verify();
    expect(open.verified()).toBe(1);
  });

  it('receive later notices, in order, only once they are verified again', async () => {
    open.pass(2_000);
    open.notify('TASK-1');
    open.notify('TASK-2');
    expect(open.opened.map(({ sent }) => sent)).toEqual([[], [], []]);
    await open.verify();
    expect(open.opened.map(({ sent }) => sent)).toEqual(Array(3).fill(['TASK-1', 'TASK-2']));
    expect(open.verified()).toBe(1);
  });

  it.each([
    ['is revoked', undefined],
    ['has another role', caller({ role: 'read-only' })],
    ['has fewer permissions', caller({ permissions: [] })],
    ['is in another workspace', caller({ workspaceId: 'ws-other' })],
  ])('are closed, and receive nothing of what waits, when the credential %s', async (_case, next) => {
    open.becomes(next);
    open.pass(2_000);
    open.notify('TASK-1');
    await open.verify();
    open.notify('TASK-2');
    expect(open.opened.map(({ sent, closed }) => [sent, closed])).toEqual(Array(3).fill([[], [4001]]));
  });

  it('are not closed at once when they cannot be verified, and receive nothing meanwhile', async () => {
    open.becomes(new Error('the stores are away'));
    open.pass(2_000);
    open.notify('TASK-1');
    await open.verify();
    expect(open.opened.map(({ sent, closed }) => [sent, closed])).toEqual(Array(3).fill([[], []]));
    open.becomes(caller());
    await open.verify();
    expect(open.opened[0]!.sent).toEqual(['TASK-1']);
    open.becomes(new Error('the stores are away'));
    open.pass(20_000);
    await open.verify();
    expect(open.opened[0]!.closed).toEqual([1013]);
  });

  it('with a key of the environment are not verified again: its rights do not change', () => {
    const standings = new Standings(async () => undefined, createLog({ name: 'test', level: 'silent' }));
    const { carrier: _carrier, ...fixed } = caller();
    expect(standings.of(fixed, [], request)).toBeUndefined();
    standings.close();
  });
});

describe('the caller of a connection that is refused', () => {
  afterEach(() => jest.useRealTimers());

  it('is not verified again and again', async () => {
    jest.useFakeTimers();
    const identify = jest.fn(async () => caller());
    const standings = new Standings(identify, createLog({ name: 'test', level: 'silent' }));
    standings.of(caller(), [{ carrier: 'cookie', value: 'a' }], request);
    await jest.advanceTimersByTimeAsync(5_000);
    standings.close();
    expect(identify).not.toHaveBeenCalled();
  });
});
