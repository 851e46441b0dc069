import type { AttributedChange } from '../../contracts/runs/checkpoint';

/** A path that is different, and the object it is now; `null` when it is gone. */
export interface ChangedPath {
  path: string;
  status: AttributedChange['status'];
  object: string | null;
}

/**
 * What the agent reported it changed, and the object the file was at that moment; `undefined` when that is unknown. The last
 * report of a path counts.
 */
export type Reported = ReadonlyMap<string, string | null | undefined>;

/**
 * Whose each change is. The agent's are those it reported, as long as the file is unchanged since: otherwise it was changed
 * after the agent, and has no single author. An unreported change is `unknown`.
 *
 * @param reported what was reported before the changes were seen
 * @param late what was reported after: it may concern these changes, or later ones
 */
export function attribute(
  changes: readonly ChangedPath[],
  reported: Reported,
  late: Reported = new Map(),
): AttributedChange[] {
  return changes.map(({ path, status, object }) => {
    const words = [reported, late].filter((report) => report.has(path));
    const conflict = words.length > 0 && !words.some((report) => report.get(path) === object);
    return { path, status, attribution: words.length === 0 || conflict ? 'unknown' : 'agent', conflict };
  });
}

/** The id of a checkpoint: the same for the same number of the same attempt. */
export const checkpointIdOf = (attemptId: string, number: number): string =>
  `checkpoint_${attemptId.replace(/^attempt_/, '')}_${number}`;
