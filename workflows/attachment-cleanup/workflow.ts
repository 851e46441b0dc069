import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { AttachmentActivities, AttachmentCleanup } from '../../activities/attachment-cleanup/activities';

const { cleanUpAttachments } = proxyActivities<AttachmentActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
  summary: 'remove orphaned attachments',
});

/** Removes contents of attachments that are on no task. Started by a schedule; what it misses is due again. */
export async function attachmentCleanup(): Promise<AttachmentCleanup> {
  const done = await cleanUpAttachments();
  setCurrentDetails(`${done.removed} attachments removed, ${done.confirmed} found on their tasks.`);
  return done;
}
