import { setTimeout as delay } from 'node:timers/promises';
import { findGroup, isSameProcess, type ProcessIdentity } from './identity';
import { readProcess } from './process-table';

/** How long a process may take to disappear after SIGKILL; longer means it hangs in the kernel. */
const killedWithinMs = 5_000;

/** Processes that are still there although they were killed. */
export class ProcessNotEndedError extends Error {
  override readonly name = 'ProcessNotEndedError';

  constructor(readonly pids: number[]) {
    super(`Still running ${killedWithinMs} ms after SIGKILL: ${pids.join(', ')}.`);
  }
}

interface Target {
  identity: ProcessIdentity;
  leadsGroup: boolean;
}

/**
 * What may be signalled: identities that still match, never init, this process or its group. A member of a group that is ended
 * as a whole is omitted, so that no process gets a signal twice.
 */
async function targetsOf(identities: readonly ProcessIdentity[]): Promise<Target[]> {
  const ownGroup = (await readProcess(process.pid))?.groupId;
  const entries = await Promise.all(
    identities.map(async (identity) => {
      const { pid } = identity;
      if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid || !(await isSameProcess(identity))) {
        return [];
      }
      const entry = await readProcess(pid);
      return entry ? [{ identity, groupId: entry.groupId }] : [];
    }),
  );
  const members = entries.flat().map(({ identity, groupId }) => ({
    identity,
    groupId,
    leadsGroup: groupId === identity.pid && groupId !== ownGroup,
  }));
  const groups = new Set(members.filter(({ leadsGroup }) => leadsGroup).map(({ groupId }) => groupId));
  return members.filter(({ leadsGroup, groupId }) => leadsGroup || !groups.has(groupId));
}

/** Sends a signal; a process that is gone already is no error. */
function send(to: number, signal: NodeJS.Signals): void {
  try {
    process.kill(to, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EINVAL') {
      throw error;
    }
  }
}

/**
 * The processes of a target that still run. A group outlives its leader, and its number is not reused while a member remains,
 * so members are looked up by it for as long as this call has watched the group be there.
 */
async function remains({ identity, leadsGroup }: Target): Promise<ProcessIdentity[]> {
  if (leadsGroup) {
    return findGroup(identity.pid);
  }
  return (await isSameProcess(identity)) ? [identity] : [];
}

const signalTarget = ({ identity, leadsGroup }: Target, signal: NodeJS.Signals): void =>
  send(leadsGroup ? -identity.pid : identity.pid, signal);

/** Waits until no target remains, up to `withinMs`; returns those that do. */
async function waitForEnd(targets: Target[], withinMs: number): Promise<Target[]> {
  const deadline = performance.now() + withinMs;
  let left = targets;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const still = await Promise.all(left.map(remains));
    left = left.filter((_, index) => still[index]?.length);
    const remainingMs = deadline - performance.now();
    if (left.length === 0 || remainingMs <= 0) {
      return left;
    }
    await delay(Math.min(pauseMs, remainingMs));
  }
}

/**
 * Ends processes and, for those that lead one, their whole group: SIGTERM, SIGKILL after `graceMs`, and resolves when
 * all are gone (zombies count as gone). Identities that no longer match anything are skipped, so that a reused pid is
 * never signalled; so are init, this process and its own group.
 *
 * @throws ProcessNotEndedError when something survives SIGKILL
 */
export async function endProcess(
  identities: ProcessIdentity | readonly ProcessIdentity[],
  { graceMs }: { graceMs: number },
): Promise<void> {
  const targets = await targetsOf([identities].flat());
  for (const target of targets) {
    signalTarget(target, 'SIGTERM');
  }
  const stubborn = await waitForEnd(targets, graceMs);
  for (const target of stubborn) {
    signalTarget(target, 'SIGKILL');
  }
  const unkillable = await waitForEnd(stubborn, killedWithinMs);
  if (unkillable.length > 0) {
    throw new ProcessNotEndedError(unkillable.map(({ identity }) => identity.pid));
  }
}
