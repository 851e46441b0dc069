import { setTimeout as delay } from 'node:timers/promises';
import { findByEnvironment, isSameProcess, type ProcessIdentity } from '../../../platform/processes/identity';
import { endProcess, ProcessNotEndedError } from '../../../platform/processes/kill-process-group';

/** The variable that marks every process of an attempt. */
export const attemptVariable = 'BOARD_ATTEMPT_ID';

/** The variable that marks every process of a probe, which belongs to no attempt. */
export const probeVariable = 'BOARD_PROBE_ID';

/** A process may start another one while it is being ended; a fork bomb is not chased for ever. */
const rounds = 50;

/** A process shows no environment in the moment it changes its program: a second search this much later finds it. */
const secondLookMs = 100;

/**
 * Ends everything of an attempt that still runs: `known` processes with their groups, and whatever carries the
 * attempt's id in its environment, also outside those groups.
 *
 * @returns the processes that were ended
 * @throws ProcessNotEndedError when something of it still runs
 */
export async function endAttempt(
  attemptId: string,
  recorded: readonly ProcessIdentity[],
  graceMs: number,
): Promise<ProcessIdentity[]> {
  const ended = new Map<number, ProcessIdentity>();
  let candidates = recorded;
  for (let round = 0; round < rounds; round += 1) {
    const matches = await Promise.all(candidates.map(isSameProcess));
    const marked = await findByEnvironment(attemptVariable, attemptId);
    const targets = new Map(
      [...candidates.filter((_, index) => matches[index]), ...marked].map((identity) => [identity.pid, identity]),
    );
    targets.delete(process.pid);
    if (targets.size === 0) {
      return [...ended.values()];
    }
    // A process that starts while the others are being ended gets no grace period.
    await endProcess([...targets.values()], { graceMs: round === 0 ? graceMs : 0 });
    for (const [pid, identity] of targets) {
      ended.set(pid, identity);
    }
    candidates = [];
  }
  throw new ProcessNotEndedError((await findByEnvironment(attemptVariable, attemptId)).map(({ pid }) => pid));
}

/** Ends what a dead worker left of an attempt: see `AgentProvider.endOrphans`. */
export async function endOrphans(
  attemptId: string,
  recorded: ProcessIdentity | undefined,
  graceMs: number,
): Promise<ProcessIdentity[]> {
  const ended = await endAttempt(attemptId, recorded ? [recorded] : [], graceMs);
  await delay(secondLookMs);
  return [...ended, ...(await endAttempt(attemptId, [], 0))];
}
