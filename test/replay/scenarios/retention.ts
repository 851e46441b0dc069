import { attachmentCleanupId } from '../../../workflows/attachment-cleanup/messages';
import { dryRunId } from '../../../workflows/retention/messages';
import { skillScanWorkflowId } from '../../../workflows/skill-scan/messages';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** A purge of the stores, and a preview of what every host would purge. */
export async function retentionScenarios({ service }: Stage): Promise<Recording[]> {
  await service.call.ok('POST', '/api/retention/tasks/dry-run');
  await service.call.ok('POST', '/api/retention/spools/dry-run');
  return [
    ['retention-tasks', dryRunId('tasks')],
    ['retention-spools', dryRunId('spools')],
  ];
}

/** Has the schedule of attachments start its workflow now. */
export async function attachmentScenarios({ temporal }: Stage): Promise<Recording[]> {
  await temporal.schedule.getHandle(attachmentCleanupId).trigger();
  return [['attachment-cleanup', await latestWorkflow(temporal, 'attachmentCleanup')]];
}

/** Has the schedule of skills start its workflow now. */
export async function skillScenarios({ service, temporal }: Stage): Promise<Recording[]> {
  await service.call.ok('POST', '/api/shared-resources', { name: 'Recorded', type: 'skill', content: 'Do it' });
  await temporal.schedule.getHandle(skillScanWorkflowId).trigger();
  return [['skill-scan', await latestWorkflow(temporal, 'skillScan')]];
}
