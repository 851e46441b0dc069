import type { OwedWrites } from '../../../platform/operations/owed-writes';
import type { RecordedChange } from '../../../stores/board-files/wrappers/recorded-board';
import type { ActivityStore } from '../../../stores/chat/activity-store';
import type { NotificationStore } from '../../../stores/chat/notification-store';
import { mentionsIn } from '../notifications/mentions';
import { activitiesOf } from './activities-of';

/** Longest excerpt of a comment in its notification, in characters. */
const shown = 500;

interface Recording {
  activity: Pick<ActivityStore, 'prepare' | 'write'>;
  notifications: Pick<NotificationStore, 'add'>;
  owed: Pick<OwedWrites, 'write'>;
}

/**
 * Records a change of a task, and notifies those whom its new comments mention. The task has changed already: what the stores
 * do not accept now is written later, and the caller is notified that it is not there yet.
 */
export function createChangeRecorder({
  activity,
  notifications,
  owed,
}: Recording): (change: RecordedChange) => Promise<void> {
  return (change) => {
    const entries = activity.prepare(activitiesOf(change));
    return owed.write(`activity of ${change.after.id}`, async () => {
      await activity.write(entries);
      await notifyMentioned(change);
    });
  };

  async function notifyMentioned({ before, after }: RecordedChange): Promise<void> {
    const earlierIds = new Set((before?.comments ?? []).map(({ id }) => id));
    for (const { id, author, text } of (after.comments ?? []).filter((comment) => !earlierIds.has(comment.id))) {
      for (const { target } of mentionsIn(text).filter((one) => one.target !== author)) {
        await notifications.add({
          type: 'mention',
          targetAgent: target,
          fromAgent: author,
          content: text.slice(0, shown),
          taskId: after.id,
          taskTitle: after.title,
          // The comment's id is made once: the same comment notifies each target once.
          dedupeKey: `comment:${id}:${target}`,
        });
      }
    }
  }
}
