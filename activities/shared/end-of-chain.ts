import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { RecoveryStore } from '../../stores/runs/recovery-store';

interface Sources {
  attempts: Pick<AttemptStore, 'get'>;
  recoveries: Pick<RecoveryStore, 'get'>;
}

/** The last attempt of a chain of recoveries, once it has ended and none follows; `undefined` while something is under way. */
export async function endOfChain(sources: Sources, first: string): Promise<AttemptRecord | undefined> {
  const seen = new Set<string>();
  for (let attemptId = first; !seen.has(attemptId);) {
    seen.add(attemptId);
    const attempt = await sources.attempts.get(attemptId);
    if (attempt?.state !== 'ended' && attempt?.state !== 'refused') {
      return undefined;
    }
    const recovery = await sources.recoveries.get(attemptId);
    const next = recovery?.state === 'launched' ? recovery.nextAttemptId : undefined;
    if (recovery?.state === 'scheduled' || recovery?.state === 'launching') {
      return undefined;
    }
    if (next === undefined) {
      return attempt;
    }
    attemptId = next;
  }
  return undefined;
}
