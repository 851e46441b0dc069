import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { Board } from '../../stores/board-files/types';
import type { AttachmentHold, AttachmentStore } from '../../stores/tasks/attachment-store';

/** How many are inspected between two reads of the store. */
const batch = 200;

/** After this every upload and every deletion is over, or its process has died; in milliseconds. */
const undecidedForMs = 3_600_000;

export interface AttachmentCleanup {
  /** Attachments without a task or content. */
  removed: number;
  /** Attachments that are on their task, without a confirmation. */
  confirmed: number;
}

export function createAttachmentActivities(deps: {
  attachments: Pick<AttachmentStore, 'released' | 'unconfirmed' | 'confirm' | 'release' | 'remove'>;
  board: Pick<Board, 'get'>;
  log: Log;
  now: () => Date;
}) {
  /** Whether the task has the attachment; `undefined` while its file cannot be read, or it is deleted. */
  async function isOnTask({ _id, taskId }: AttachmentHold): Promise<boolean | undefined> {
    try {
      const task = await deps.board.get(taskId);
      return task && (task.task.attachments ?? []).some(({ id }) => id === _id);
    } catch (error) {
      if (error instanceof AppError) {
        return undefined;
      }
      throw error;
    }
  }

  /** Reads from the tasks what became of attachments whose upload or deletion was interrupted. */
  async function decide(signal: AbortSignal): Promise<number> {
    const before = new Date(deps.now().getTime() - undecidedForMs).toISOString();
    let confirmed = 0;
    for (let after = ''; !signal.aborted;) {
      const holds = await deps.attachments.unconfirmed(after, before, batch);
      for (const hold of holds) {
        const isThere = await isOnTask(hold);
        if (isThere === undefined) {
          continue;
        }
        await (isThere ? deps.attachments.confirm([hold._id]) : deps.attachments.release([hold._id]));
        confirmed += Number(isThere);
      }
      const last = holds.at(-1);
      if (!last) {
        break;
      }
      after = last.since;
    }
    return confirmed;
  }

  async function removeReleased(signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (let after = ''; !signal.aborted;) {
      const holds = await deps.attachments.released(after, batch);
      for (const { _id } of holds) {
        if (await deps.attachments.remove(_id)) {
          removed += 1;
        }
      }
      const last = holds.at(-1);
      if (!last) {
        break;
      }
      after = last.since;
    }
    return removed;
  }

  return {
    /** Removes the remains of interrupted uploads and deletions, and content that was too young to go. */
    async cleanUpAttachments(): Promise<AttachmentCleanup> {
      return withHeartbeat(async (signal) => {
        const confirmed = await decide(signal);
        const done = { removed: await removeReleased(signal), confirmed };
        if (done.removed + done.confirmed > 0) {
          deps.log.info(done, 'attachments cleaned up');
        }
        return done;
      });
    },
  };
}

export type AttachmentActivities = ReturnType<typeof createAttachmentActivities>;
