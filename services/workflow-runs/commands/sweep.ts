import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log';
import { hasEnded } from '../runs/run';
import type { RunStore } from '../runs/store';

/** How often workspaces are looked through, in milliseconds. */
const everyMs = 600_000;

interface SweepDependencies {
  /** The directory with the workspaces of this host, each under the id of its run. */
  directory: string;
  retentionMs: number;
  runs: Pick<RunStore, 'get'>;
  now: () => Date;
}

/** Removes the workspaces on this host of runs that ended long ago, or are not stored. Repeatable. */
export async function sweepWorkspaces({ directory, retentionMs, runs, now }: SweepDependencies): Promise<void> {
  for (const id of await readdir(directory).catch(() => [])) {
    const run = await runs.get(id);
    const endedAt = run && hasEnded(run.status) ? Date.parse(run.ended_at ?? run.created_at) : undefined;
    if (!run || (endedAt !== undefined && now().getTime() - endedAt > retentionMs)) {
      await rm(join(directory, id), { recursive: true, force: true });
    }
  }
}

/** Does so now and from time to time; returns what ends it. */
export function sweepRegularly(dependencies: SweepDependencies & { log: Log }): () => void {
  const { log } = dependencies;
  const sweep = (): void => {
    sweepWorkspaces(dependencies).catch((err: unknown) => log.warn({ err }, 'workspace removal failed'));
  };
  sweep();
  const timer = setInterval(sweep, everyMs).unref();
  return () => clearInterval(timer);
}
