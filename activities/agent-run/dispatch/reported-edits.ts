import type { Reported } from '../../../domain/checkpoints/attribution';

/** Limit of the paths that are stored at a time; reports beyond it are not attributed to the agent. */
const maxPaths = 10_000;

/**
 * The edits that an agent reports, from one inspection of its worktree to the next. An agent writes first and reports
 * afterwards: its report of a change that was seen already can be waited for.
 */
export function createReportedEdits() {
  let edits = new Map<string, string | null | undefined>();
  let awaited: { paths: Set<string>; settle(): void } | undefined;

  return {
    /** @param object what the file was when the agent reported it */
    record(path: string, object: string | null | undefined): void {
      if (edits.size >= maxPaths && !edits.has(path)) {
        return;
      }
      edits.set(path, object);
      awaited?.paths.delete(path);
      if (awaited?.paths.size === 0) {
        awaited.settle();
      }
    },

    /** The reports since the last time, which are removed here. */
    drain(): Reported {
      const drained = edits;
      edits = new Map();
      return drained;
    },

    /** Restores what was drained and could not be used; later reports take precedence. */
    restore(drained: Reported): void {
      edits = new Map([...drained, ...edits]);
    },

    /** The reports since the last time, which stay: they may be about a change that was not seen yet. */
    peek: (): Reported => edits,

    /** Resolves when there is a report of each of these paths, none can arrive any more, or the time is over. */
    async awaitReports(paths: readonly string[], withinMs: number): Promise<void> {
      const missing = new Set(paths.filter((path) => !edits.has(path)));
      if (missing.size === 0) {
        return;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        const settle = () => {
          clearTimeout(timer);
          resolve();
        };
        awaited = { paths: missing, settle };
      });
      awaited = undefined;
    },

    /** Ends the waiting: no report arrives while it lasts. */
    complete(): void {
      awaited?.settle();
    },
  };
}
