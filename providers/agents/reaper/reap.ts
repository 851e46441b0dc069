import { setTimeout as delay } from 'node:timers/promises';
import {
  findGroup,
  findMarked,
  identify,
  isSameProcess,
  type ProcessIdentity,
  type ProcessMarker,
} from '../../../platform/processes/identity';
import { endProcess } from '../../../platform/processes/kill-process-group';

/**
 * How agents whose worker has died are ended, in milliseconds: the time between SIGTERM and SIGKILL; how often the
 * system is searched until nothing is found, and how many times in a row that must be, because a process shows no
 * environment in the moment it changes its program; how long what does not end is signalled again.
 */
export const reaping = { graceMs: 1_000, pauseMs: 100, quietScans: 5, atMostMs: 600_000 } as const;

/** Ends everything of the agents, and resolves when nothing of them is left. */
export async function reap(agents: { marker: ProcessMarker; identity?: ProcessIdentity }[]): Promise<void> {
  const deadline = performance.now() + reaping.atMostMs;
  for (let quiet = 0; agents.length > 0 && quiet < reaping.quietScans && performance.now() < deadline;) {
    const left = await remains(agents);
    if (left.length > 0) {
      quiet = 0;
      // One that hangs in the kernel is signalled again.
      await endProcess(left, { graceMs: reaping.graceMs }).catch(() => undefined);
    } else {
      quiet += 1;
      await delay(reaping.pauseMs);
    }
  }
}

async function remains(agents: { marker: ProcessMarker; identity?: ProcessIdentity }[]): Promise<ProcessIdentity[]> {
  const identities = await Promise.all(agents.flatMap(({ identity }) => (identity ? [processesOf(identity)] : [])));
  const marked = await findMarked(agents.map(({ marker }) => marker));
  return [...new Map([...identities.flat(), ...marked].map((identity) => [identity.pid, identity])).values()];
}

/** The process, or its group when only that is left: the number of a group is not given away while it has members. */
async function processesOf(identity: ProcessIdentity): Promise<ProcessIdentity[]> {
  if (await isSameProcess(identity)) {
    return [identity];
  }
  return (await identify(identity.pid)) ? [] : findGroup(identity.pid);
}
