import { defaultFeatures } from '../../stores/settings/settings-store';
import { blockedBy, deniedBy, evaluated, hostKey, policiesOf } from './capacity';

const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 10, BOARD_RUN_TIMEOUT_MS: 60_000 });
const ids = { workspaceId: 'local', rootTaskId: 't', provider: 'process', hostId: 'h', rootObjectiveId: 'a' };
const one = { runs: 1, processes: 1, memoryMb: 512 };
const withHostLimit = (runs: number) => ({
  ...admission,
  limits: { ...admission.limits, host: { runs, processes: null, memoryMb: null } },
});

describe('capacity check', () => {
  test('a host without workers has no room now, which is no reason to refuse what can wait for it', () => {
    const policies = policiesOf(admission, ids, 0);
    expect(deniedBy(policies, one)).toBeUndefined();
    expect(blockedBy(policies, {}, one).map(evaluated)).toEqual([
      { policy: 'host.runs', scope: 'host', scopeId: hostKey('h'), resource: 'runs', limit: 0 },
    ]);
  });

  test('of what is configured for a host and what it announces, the smaller one holds', () => {
    const busy = { [hostKey('h')]: { ...one, runs: 3 } };
    expect(blockedBy(policiesOf(withHostLimit(5), ids, 3), busy, one)).toHaveLength(1);
    expect(blockedBy(policiesOf(withHostLimit(3), ids, 5), busy, one)).toHaveLength(1);
    expect(blockedBy(policiesOf(withHostLimit(5), ids, 5), busy, one)).toEqual([]);
  });

  test('of two ceilings of a host for runs only the smaller one is named, whatever its other ceilings are', () => {
    const limitsOfHost = (host: typeof admission.limits.host, hostRuns: number) =>
      policiesOf({ ...admission, limits: { ...admission.limits, host } }, ids, hostRuns)
        .filter(({ scope }) => scope === 'host')
        .map(({ policy, limit, passing }) => [policy, limit, passing]);
    const none = { runs: null, processes: null, memoryMb: null };
    expect(limitsOfHost({ ...none, runs: 3 }, 5)).toEqual([['host.runs', 3, undefined]]);
    expect(limitsOfHost({ ...none, processes: 1 }, 3)).toEqual([
      ['host.processes', 1, undefined],
      ['host.runs', 3, true],
    ]);
  });

  test('without admission there is no ceiling', () => {
    expect(policiesOf({ ...admission, enabled: false }, ids, 0)).toEqual([]);
  });

  test('an identity has one placeholder, and no two have the same', () => {
    expect(hostKey('new')).toMatch(/^host_[0-9a-f]{24}$/);
    expect(hostKey('new')).toBe(hostKey('new'));
    expect(hostKey('other')).not.toBe(hostKey('new'));
  });

  test('a configured ceiling below the request is never met by waiting', () => {
    expect(deniedBy(policiesOf(withHostLimit(1), ids, 0), { ...one, runs: 2 })).toMatchObject({ policy: 'host.runs' });
  });
});
