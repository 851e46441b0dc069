import type { AdmissionSettings } from '../../contracts/settings/settings';
import { globalScope, hostKey, type Usage } from '../../domain/admission/capacity';
import type { QueueStore } from '../../stores/runs/admission/queue-store';
import type { HostCapacity, HostStore } from '../../stores/runs/hosts/host-store';
import { hostRuns } from '../agent-run/admission/host-runs';
import { heldPolicy } from '../agent-run/admission/queue-view';

interface SweepDependencies {
  queue: Pick<QueueStore, 'hostsAfter' | 'limitHost'>;
  hosts: Pick<HostStore, 'capacityOf'>;
  now(): Date;
}

interface Situation {
  admission: AdmissionSettings;
  usage: Usage;
  capacities: ReadonlyMap<string, HostCapacity>;
  /** Nothing more may start on the whole board. */
  isFull: boolean;
}

/** Hosts that one round looks at. */
const atOnce = 8;
/** At most so often, in milliseconds. */
const everyMs = 250;

/**
 * Records of the entries whose lanes the choice does not read that they wait for their host: else launches elsewhere would wait
 * behind them, for what they are not waiting for. Some hosts in each round, one after the other.
 */
export function hostSweep(deps: SweepDependencies) {
  const { queue, hosts } = deps;
  let after = '';
  let lastAt: number | undefined;

  return async ({ admission, usage, capacities, isFull }: Situation): Promise<void> => {
    const at = deps.now().getTime();
    if (lastAt !== undefined && at >= lastAt && at - lastAt < everyMs) {
      return;
    }
    lastAt = at;
    const next = await queue.hostsAfter(after, atOnce);
    after = next.length < atOnce ? '' : (next.at(-1) ?? '');
    for (const hostId of next) {
      const host = capacities.get(hostId) ?? (await hosts.capacityOf(hostId));
      const key = hostKey(hostId);
      if (!host.takesWork) {
        // It waits for no ceiling: only launches that need the same host wait behind.
        await queue.limitHost({ hostId }, key, [heldPolicy('host', key)]);
        continue;
      }
      const { limit, free } = hostRuns(admission, usage, { hostId, runs: host.runs });
      if (free <= 0 && !isFull) {
        const full = { ...heldPolicy('host', key), limit };
        await queue.limitHost({ hostId, instead: globalScope.key }, key, [full]);
      }
    }
  };
}
