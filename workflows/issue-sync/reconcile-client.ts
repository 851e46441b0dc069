import type { Client } from '@temporalio/client';
import type { IssueSyncStore } from '../../stores/integrations/issue-sync-store';
import { issueSyncOptions } from './client';

/**
 * Starts the synchronisations that are enabled and do not run: the process that enabled one may have died before it started it,
 * and an operator may have terminated it.
 */
export async function reconcileIssueSyncs(
  client: Client,
  { issueSyncs, env }: { issueSyncs: Pick<IssueSyncStore, 'configs'>; env: Parameters<typeof issueSyncOptions>[1] },
): Promise<void> {
  for (const { id, enabled } of await issueSyncs.configs.list()) {
    if (enabled) {
      await client.workflow.start('issueSync', issueSyncOptions(id, env));
    }
  }
}
