import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Features } from '../../contracts/settings/settings';
import type { RetentionReport } from '../../contracts/system/retention';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import { type PurgeInput, tally } from './tally';

export interface SpoolRetentionDependencies {
  attempts: Pick<AttemptStore, 'get'>;
  /** Directory for agents that outlive their workers: one directory for each attempt. */
  agentsDir: string;
  settings: () => Promise<Features['retention']>;
  now: () => Date;
}

const hourMs = 3_600_000;

export function createSpoolRetentionActivities({ attempts, agentsDir, settings, now }: SpoolRetentionDependencies) {
  /** Whether the directory is unused: its attempt is over, or has no record. */
  async function isLeft(attemptId: string, before: number): Promise<boolean> {
    const record = await attempts.get(attemptId);
    if (record && record.state !== 'ended' && record.state !== 'refused') {
      return false;
    }
    return (await stat(join(agentsDir, attemptId))).mtimeMs < before;
  }

  return {
    /** Removes what agents of this host have left that outlived their workers, once their attempts are over. */
    purgeSpools: (input: PurgeInput): Promise<RetentionReport> =>
      withHeartbeat(async (signal) => {
        const { spoolHours } = await settings();
        const tallied = tally('spools', input);
        const before = now().getTime() - spoolHours * hourMs;
        for (const attemptId of await entriesOf(agentsDir)) {
          if (signal.aborted) {
            break;
          }
          if (!(await isLeft(attemptId, before).catch(unlessMissing))) {
            continue;
          }
          await tallied.take(attemptId, async () => {
            await rm(join(agentsDir, attemptId), { recursive: true, force: true });
            return true;
          });
        }
        return tallied.report;
      }),
  };
}

export type SpoolRetentionActivities = ReturnType<typeof createSpoolRetentionActivities>;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The names of directories, never what a link leads to. */
async function entriesOf(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) {
      return [];
    }
    throw error;
  }
}

/** A directory that was removed meanwhile is no longer there to be purged. */
function unlessMissing(error: unknown): false {
  if (isMissing(error)) {
    return false;
  }
  throw error;
}
