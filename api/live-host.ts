import { conflict, validationError } from '../platform/errors/app-error';
import type { HostStore } from '../stores/runs/hosts/host-store';

type Hosts = Pick<HostStore, 'anyLive' | 'isKnown' | 'isDrained' | 'capacityOf'>;

/** That only a worker can do what was requested, and none is live. @param purpose what it would do: `start the agent` */
export const hostUnavailable = (hostId: string | undefined, purpose: string): Error =>
  conflict(
    `No worker ${hostId === undefined ? '' : `of the host ${hostId} `}is live, and only a worker can ${purpose}.`,
    { hostId: hostId ?? null, remediation: 'Start a worker, or name a live host of GET /api/config/agent-presets.' },
    'HOST_UNAVAILABLE',
  );

/** The requested host, or the one that a launch would likely take. @throws AppError 400 for an unknown one; 409 without a live worker */
export async function liveHost(hosts: Hosts, requested: string | undefined, purpose: string): Promise<string> {
  if (requested === undefined) {
    const chosen = await hosts.anyLive();
    if (chosen === undefined) {
      throw hostUnavailable(undefined, purpose);
    }
    return chosen;
  }
  if (!(await hosts.isKnown(requested))) {
    throw validationError([{ path: 'hostId', message: 'no worker of this host has ever registered' }]);
  }
  if (!(await hosts.capacityOf(requested)).takesWork) {
    if (await hosts.isDrained(requested)) {
      throw conflict(
        `The host ${requested} is drained, and only a worker of it can ${purpose}.`,
        { hostId: requested },
        'HOST_DRAINED',
      );
    }
    throw hostUnavailable(requested, purpose);
  }
  return requested;
}
