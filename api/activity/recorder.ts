import type { ActivityStore } from '../../stores/activity-store';
import type { RecordedChange } from '../../stores/board-files/recorded-board';
import type { NotificationStore } from '../../stores/notification-store';
import { mentionsIn } from '../notifications/mentions';
import { activitiesOf } from './activities-of';

/** Comments are at most this long in what tells of them. */
const shown = 500;

/** Writes down what was done to a task, and tells those whom its new comments mention. */
export function createChangeRecorder({
  activity,
  notifications,
}: {
  activity: Pick<ActivityStore, 'record'>;
  notifications: Pick<NotificationStore, 'add'>;
}): (change: RecordedChange) => Promise<void> {
  return async (change) => {
    await activity.record(activitiesOf(change));
    const { before, after } = change;
    const known = new Set((before?.comments ?? []).map(({ id }) => id));
    for (const { id, author, text } of (after.comments ?? []).filter((comment) => !known.has(comment.id))) {
      for (const { target } of mentionsIn(text).filter((one) => one.target !== author)) {
        await notifications.add({
          type: 'mention',
          targetAgent: target,
          fromAgent: author,
          content: text.slice(0, shown),
          taskId: after.id,
          taskTitle: after.title,
          // The comment's id is made once: the same comment tells nobody twice.
          dedupeKey: `comment:${id}:${target}`,
        });
      }
    }
  };
}
