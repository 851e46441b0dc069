import type { HostCapacity, HostStore } from '../../stores/runs/hosts/host-store';

/** For how long the hosts that were read are used again, in milliseconds. */
const freshMs = 500;

/**
 * What the live hosts can execute, as it was within the last half second: rounds that follow each other at once need not read
 * every host. It decides what is tried; what is reserved is decided by what the host has then.
 */
export function recentCapacities({ hosts, now }: { hosts: Pick<HostStore, 'capacities'>; now: () => Date }) {
  let recent: { at: number; capacities: ReadonlyMap<string, HostCapacity> } | undefined;
  return async (): Promise<ReadonlyMap<string, HostCapacity>> => {
    const at = now().getTime();
    const age = recent ? at - recent.at : freshMs;
    if (recent && age >= 0 && age < freshMs) {
      return recent.capacities;
    }
    const capacities = await hosts.capacities();
    recent = { at, capacities };
    return capacities;
  };
}
