import { endProcess } from '../../../platform/processes/end-group';
import { findByEnvironment, isSameProcess, type ProcessIdentity } from '../../../platform/processes/identity';

/** The variable that marks every process of an attempt. */
export const attemptVariable = 'BOARD_ATTEMPT_ID';

/** A process may start another one while it is being ended; a fork bomb is not chased for ever. */
const rounds = 5;

/**
 * Ends everything of an attempt that still runs: `known` processes with their groups, and whatever carries the
 * attempt's id in its environment, also outside those groups.
 *
 * @returns the processes that were ended
 */
export async function endAttempt(
  attemptId: string,
  known: readonly ProcessIdentity[],
  graceMs: number,
): Promise<ProcessIdentity[]> {
  const ended = new Map<number, ProcessIdentity>();
  let candidates = known;
  for (let round = 0; round < rounds; round += 1) {
    const matches = await Promise.all(candidates.map(isSameProcess));
    const marked = await findByEnvironment(attemptVariable, attemptId);
    const targets = new Map(
      [...candidates.filter((_, index) => matches[index]), ...marked].map((identity) => [identity.pid, identity]),
    );
    targets.delete(process.pid);
    if (targets.size === 0) break;
    await endProcess([...targets.values()], { graceMs });
    for (const [pid, identity] of targets) ended.set(pid, identity);
    candidates = [];
  }
  return [...ended.values()];
}
