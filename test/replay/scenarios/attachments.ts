import { attachmentCleanupId } from '../../../workflows/attachment-cleanup/messages';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** Has the schedule start its workflow now. */
export async function attachmentScenarios({ temporal }: Stage): Promise<Recording[]> {
  await temporal.schedule.getHandle(attachmentCleanupId).trigger();
  return [['attachment-cleanup', await latestWorkflow(temporal, 'attachmentCleanup')]];
}
