import type { Attribution, WorkspaceCheckpoint } from '../../contracts/runs/checkpoint';
import type { RewindDecision, RewoundPath } from '../../contracts/runs/rewind';
import { digestOf } from '../../platform/json/digest';

/** Whose a path is, over everything that happened to it. */
interface Owned {
  attribution: Attribution;
  conflict: boolean;
}

/**
 * Whose each path is that changed in these checkpoints. A path is the agent's when every change of it was; one that any of them
 * does not list in full, or that changed after the last of them, has no owner.
 */
export function ownersOf(
  checkpoints: readonly Pick<WorkspaceCheckpoint, 'changes'>[],
  changedSince: readonly string[],
): ReadonlyMap<string, Owned> {
  const owners = new Map<string, Owned>();
  for (const { path, attribution, conflict } of checkpoints.flatMap(({ changes }) => changes)) {
    const owner = owners.get(path);
    const mixed = owner !== undefined && owner.attribution !== attribution;
    owners.set(path, {
      attribution: owner === undefined || owner.attribution === 'agent' ? attribution : owner.attribution,
      conflict: conflict || mixed || owner?.conflict === true,
    });
  }
  for (const path of changedSince) {
    owners.set(path, { attribution: 'unknown', conflict: owners.has(path) });
  }
  return owners;
}

export type Plan = { paths: RewoundPath[] } | { unresolved: RewoundPath[] } | { unknown: string[] };

/**
 * Decides what becomes of each path that a rewind would change. Paths of the agent are reverted; those that are not, or not
 * only, the agent's need a person's decision.
 */
export function planRewind(
  changed: readonly string[],
  owners: ReadonlyMap<string, Owned>,
  resolutions: ReadonlyMap<string, RewindDecision>,
): Plan {
  const changedPaths = new Set(changed);
  const unknown = [...resolutions.keys()].filter((path) => !changedPaths.has(path));
  if (unknown.length > 0) {
    return { unknown };
  }
  const paths = changed.map((path) => {
    const { attribution, conflict } = owners.get(path) ?? { attribution: 'unknown' as const, conflict: false };
    return { path, attribution, conflict, decision: resolutions.get(path) };
  });
  const unresolved = paths.filter(
    ({ attribution, conflict, decision }) => decision === undefined && (attribution !== 'agent' || conflict),
  );
  const decided = ({ decision = 'accept' as const, ...path }: (typeof paths)[number]): RewoundPath => ({
    ...path,
    decision,
  });
  return unresolved.length > 0 ? { unresolved: unresolved.map(decided) } : { paths: paths.map(decided) };
}

/** The same for the same request of the same attempt. */
export const rewindIdOf = (attemptId: string, requestId: string): string =>
  `rewind_${digestOf([attemptId, requestId]).slice('sha256:'.length, 'sha256:'.length + 24)}`;
