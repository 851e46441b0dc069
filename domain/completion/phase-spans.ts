import type { WorkspaceCheckpoint } from '../../contracts/runs/checkpoint';
import type { HarnessEvidence } from '../../contracts/runs/completion';
import type { PhaseTransition } from '../../contracts/runs/phase';

type Span = NonNullable<HarnessEvidence['phaseSpans']>[number];
type Look = Pick<WorkspaceCheckpoint, 'createdAt' | 'headSha' | 'changes' | 'truncated'>;

interface PhaseHistory {
  history: readonly Pick<PhaseTransition, 'at'>[];
  /** The checkpoints, the first one first. */
  looks: readonly Look[];
  /** HEAD when the run began. */
  baselineSha: string;
}

/**
 * What of the end of a run was done in which of its phases, as far as its checkpoints show: each lists what changed since the
 * one before, and a file once for the same phases. What was undone again is omitted. `undefined` when the phase did not change or there is no checkpoint.
 */
export function phaseSpansOf(
  { changedFiles = [], commits = [], headSha }: HarnessEvidence,
  { history, looks, baselineSha }: PhaseHistory,
): Span[] | undefined {
  if (history.length === 0 || looks.length === 0) {
    return undefined;
  }
  const atEnd = new Map(changedFiles.map((file) => [file.path, file]));
  const unlisted = new Set(atEnd.keys());
  let before = { at: '', head: baselineSha };
  const listed = new Set<string>();
  const spans = looks.map((look): Span => {
    const fromSequence = history.filter(({ at }) => at <= before.at).length;
    const toSequence = history.filter(({ at }) => at < look.createdAt).length;
    const changed = look.changes.flatMap(({ path }) => {
      const key = `${fromSequence} ${toSequence} ${path}`;
      const file = listed.has(key) ? undefined : atEnd.get(path);
      listed.add(key);
      return file ?? [];
    });
    for (const { path } of changed) {
      unlisted.delete(path);
    }
    const span = {
      fromSequence,
      toSequence,
      commits: look.headSha === before.head ? [] : commits.filter(({ sha }) => sha === look.headSha),
      changedFiles: changed,
      truncated: look.truncated,
    };
    before = { at: look.createdAt, head: look.headSha };
    return span;
  });
  // What no checkpoint lists was done after the last one, or is more than a checkpoint lists.
  const isListed = looks.every(({ truncated }) => !truncated);
  const rest: Span = {
    fromSequence: isListed ? history.filter(({ at }) => at <= before.at).length : 0,
    toSequence: history.length,
    commits: headSha === before.head ? [] : commits.slice(0, 1),
    changedFiles: changedFiles.filter(({ path }) => unlisted.has(path)),
    truncated: false,
  };
  return [...spans, rest].filter((span) => span.commits.length + span.changedFiles.length > 0);
}
