import type { Features } from '../../contracts/settings/settings';
import type { RetentionReport } from '../../contracts/system/retention';
import type { Task } from '../../contracts/tasks/task';
import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { Board } from '../../stores/board-files/types';
import type { AuditStore } from '../../stores/system/audit-store';
import type { AttachmentStore } from '../../stores/tasks/attachment-store';
import { type PurgeInput, tally } from './tally';

export interface TaskRetentionDependencies {
  board: Pick<Board, 'inArchive' | 'purge'>;
  attachments: Pick<AttachmentStore, 'releaseOf'>;
  audit: Pick<AuditStore, 'record'>;
  settings: () => Promise<Features['retention']>;
  log: Log;
  now: () => Date;
}

/** Who purges. */
export const retentionActor = 'system:retention';

const dayMs = 86_400_000;

/** Whether the time of a task in the archive is over: a deleted one's `purgeAfter`, or the age of an archived one. */
export function isTaskDue(task: Task, { archivedTaskDays }: Features['retention'], now: Date): boolean {
  if (task.deletedAt !== undefined) {
    // A person may have edited the file; a value that is no date prevents the purge.
    return typeof task.purgeAfter === 'string' && Date.parse(task.purgeAfter) <= now.getTime();
  }
  if (archivedTaskDays === null) {
    return false;
  }
  return Date.parse(task.updatedAt) + archivedTaskDays * dayMs <= now.getTime();
}

export function createTaskRetentionActivities(deps: TaskRetentionDependencies) {
  return {
    /** Removes the files, progress and attachments of tasks whose time in the archive is over. */
    purgeTasks: (input: PurgeInput): Promise<RetentionReport> =>
      withHeartbeat(async (signal) => {
        const settings = await deps.settings();
        const tallied = tally('tasks', input);
        const isDue = (task: Task) => isTaskDue(task, settings, deps.now());
        for (const task of deps.board.inArchive().filter(isDue)) {
          if (signal.aborted) {
            break;
          }
          await tallied.take(task.id, () => purge(task.id, isDue));
        }
        return tallied.report;
      }),
  };

  /** A task that cannot be read, or is restored meanwhile, is left for a person or the next time. */
  async function purge(id: string, isDue: (task: Task) => boolean): Promise<boolean> {
    try {
      const purged = await deps.board.purge(id, async (task) => {
        if (!isDue(task)) {
          return false;
        }
        await deps.attachments.releaseOf(id);
        const { title, deletedAt = null } = task;
        const details = { title, deletedAt };
        const once = `task.purge/${id}/${task.revision}`;
        await deps.audit.record({ action: 'task.purge', actor: retentionActor, resource: id, details, once });
        return true;
      });
      return purged;
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 503) {
        throw error;
      }
      deps.log.warn({ taskId: id, code: error.code }, `task purge refused: ${error.message}`);
      return false;
    }
  }
}

export type TaskRetentionActivities = ReturnType<typeof createTaskRetentionActivities>;
