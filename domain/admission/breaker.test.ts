import { defaultFeatures } from '../../stores/settings/settings-store';
import { breakerSignals, type TreeLoad } from './breaker';
import { policiesOf } from './capacity';

const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 100, BOARD_RUN_TIMEOUT_MS: 60_000 });
const ids = { workspaceId: 'w', rootTaskId: 't', provider: 'process', hostId: 'h', rootObjectiveId: 'o' };
const quiet: TreeLoad = { descendants: 0, depth: 1, activeReservations: 1, queuedDescendants: 0 };
const requested = admission.request;
const signals = (load: Partial<TreeLoad>, usedRuns = 0, breaker = admission.fanOutBreaker) =>
  breakerSignals(
    breaker,
    { ...quiet, ...load },
    {
      policies: policiesOf(admission, ids),
      usage: { global: { runs: usedRuns, processes: 0, memoryMb: 0 } },
      requested,
    },
  ).map(({ signal }) => signal);

describe('execution tree breaker', () => {
  it.each([
    ['descendants', { descendants: 255 }, { descendants: 256 }, 'descendant-limit'],
    ['depth', { depth: 16 }, { depth: 17 }, 'depth-limit'],
    ['reservations', { activeReservations: 63 }, { activeReservations: 64 }, 'active-reservation-limit'],
    ['queued descendants', { queuedDescendants: 63 }, { queuedDescendants: 64 }, 'queued-descendant-limit'],
  ])('lets a tree grow to its limit of %s and not beyond', (_what, within, beyond, signal) => {
    expect(signals(within)).toEqual([]);
    expect(signals(beyond)).toEqual([signal]);
  });

  it('counts pressure on a ceiling once the tree has eight descendants', () => {
    expect(signals({ descendants: 7 }, 94)).toEqual([]);
    expect(signals({ descendants: 8 }, 93)).toEqual([]);
    expect(signals({ descendants: 8 }, 94)).toEqual(['capacity-pressure']);
  });

  it('reports nothing when it is off', () => {
    expect(signals({ descendants: 999, depth: 99 }, 100, { ...admission.fanOutBreaker, enabled: false })).toEqual([]);
  });
});
