import type { AttributedChange } from '../../contracts/workspace-checkpoint';

/** A path that is different, and the object it is now; `null` when it is gone. */
export interface ChangedPath {
  path: string;
  status: AttributedChange['status'];
  object: string | null;
}

/**
 * What the agent said it changed, and the object the file was at that moment; `undefined` when nobody could say. The
 * last word about a path counts.
 */
export type Reported = ReadonlyMap<string, string | null | undefined>;

/**
 * Whose each change is. The agent's are those it told of, as long as the file is what it was then: if it is something
 * else by now, somebody changed it after the agent, and it is nobody's alone. What nobody told of is `unknown`.
 *
 * @param reported what was said before the changes were seen
 * @param late what was said after: it may be about these changes, or about what has been done since
 */
export function attribute(
  changes: readonly ChangedPath[],
  reported: Reported,
  late: Reported = new Map(),
): AttributedChange[] {
  return changes.map(({ path, status, object }) => {
    const words = [reported, late].filter((said) => said.has(path));
    const conflict = words.length > 0 && !words.some((said) => said.get(path) === object);
    return { path, status, attribution: words.length === 0 || conflict ? 'unknown' : 'agent', conflict };
  });
}

/** The id of a checkpoint: the same for the same number of the same attempt. */
export const checkpointIdOf = (attemptId: string, number: number): string =>
  `checkpoint_${attemptId.replace(/^attempt_/, '')}_${number}`;
