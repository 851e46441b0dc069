import { dryRunId } from '../../../workflows/retention/messages';
import type { Recording, Stage } from './stage';

/** A purge of the stores, and a preview of what every host would purge. */
export async function retentionScenarios({ service }: Stage): Promise<Recording[]> {
  await service.call.ok('POST', '/api/retention/tasks/dry-run');
  await service.call.ok('POST', '/api/retention/spools/dry-run');
  return [
    ['retention-tasks', dryRunId('tasks')],
    ['retention-spools', dryRunId('spools')],
  ];
}
