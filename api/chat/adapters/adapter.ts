import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { AdapterRecord } from '../../../stores/chat/adapter-store';
import type { Stores } from '../../../stores/open-stores';
import type { WorkflowContext } from '../../context';

export const tag = 'communication';
export const root = '/integrations/communication';
export const byAdapter = z.strictObject({ adapterId: slug });

export type AdapterContext = Pick<
  WorkflowContext,
  | (
      | 'adapterChannels'
      | 'adapterDefinitions'
      | 'adapterDeliveries'
      | 'adapterMappings'
      | 'adapterRequests'
      | 'adapters'
    )
  | ('board' | 'credentialSeal' | 'env' | 'feed' | 'log' | 'profiles' | 'rates' | 'rules' | 'squad' | 'startDelivery')
>;

/** @throws AppError 404 */
export async function findAdapter({ adapters }: Pick<Stores, 'adapters'>, id: string): Promise<AdapterRecord> {
  const record = await adapters.get(id);
  assertFound(record, 'communication adapter', id);
  return record;
}

/** @throws AppError 404, 409 for a team chat, which has no community */
export async function findCommunity(
  stores: Pick<Stores, 'adapters'>,
  adapterId: string,
): Promise<Extract<AdapterRecord, { kind: 'community' }>> {
  const record = await findAdapter(stores, adapterId);
  if (record.kind !== 'community') {
    const message = `The adapter ${adapterId} is of the kind ${record.kind}, which has no community.`;
    throw conflict(message, { adapterId, kind: record.kind }, 'ADAPTER_KIND');
  }
  return record;
}

/** @throws AppError 409 for an adapter that sends and receives nothing */
export function assertEnabled({ id, enabled }: AdapterRecord): void {
  if (!enabled) {
    throw conflict(`The adapter ${id} is disabled.`, { adapterId: id, enabled }, 'ADAPTER_DISABLED');
  }
}
