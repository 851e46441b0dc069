import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log';
import { hasEnded } from '../runs/run';
import type { RunStore } from '../runs/store';

/** How often workspaces are looked through, in milliseconds. */
const usualEveryMs = 600_000;
/** What is being removed is under a name that is no run's, so that no part of it is taken for a workspace. */
const removing = '.removing-';

interface SweepDependencies {
  /** The directory with the workspaces of this host, each under the id of its run. */
  directory: string;
  retentionMs: number;
  runs: Pick<RunStore, 'get'>;
  /** Ends what still uses the workspace of a run. */
  endUse: (runId: string) => Promise<void>;
  now: () => Date;
}

/**
 * Removes the workspaces on this host of runs that ended long ago, or are not stored, and what an earlier removal has left that was
 * killed. Repeatable; one that cannot be removed does not keep the others.
 *
 * @throws AggregateError with what could not be removed
 */
export async function sweepWorkspaces({ directory, retentionMs, runs, endUse, now }: SweepDependencies): Promise<void> {
  const problems: unknown[] = [];
  // Sorted, what is left of an earlier removal is first, and frees the name for another.
  for (const name of (await readdir(directory).catch(() => [])).sort()) {
    try {
      if (name.startsWith(removing)) {
        await rm(join(directory, name), { recursive: true, force: true });
        continue;
      }
      const run = await runs.get(name);
      const endedAt = run && hasEnded(run.status) ? Date.parse(run.ended_at ?? run.created_at) : undefined;
      if (!run || (endedAt !== undefined && now().getTime() - endedAt > retentionMs)) {
        const removed = join(directory, `${removing}${name}`);
        await rename(join(directory, name), removed);
        await endUse(name);
        await rm(removed, { recursive: true, force: true });
      }
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) {
    throw new AggregateError(problems, `${problems.length} of ${directory} could not be removed.`);
  }
}

/** Does so now and from time to time; returns what ends it. */
export function sweepRegularly(
  dependencies: SweepDependencies & { log: Log; everyMs?: number | undefined },
): () => void {
  const { log, everyMs = usualEveryMs } = dependencies;
  const sweep = (): void => {
    sweepWorkspaces(dependencies).catch((err: unknown) => log.warn({ err }, 'workspace removal failed'));
  };
  sweep();
  const timer = setInterval(sweep, everyMs).unref();
  return () => clearInterval(timer);
}
