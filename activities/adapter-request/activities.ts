import { ApplicationFailure } from '@temporalio/common';
import type { AdapterProbe } from '../../contracts/chat/adapter';
import type { PollReport } from '../../contracts/chat/adapter-delivery';
import { RelayError } from '../../providers/communication/community/relay';
import type { Stores } from '../../stores/open-stores';
import type { AdapterRequestInput } from '../../workflows/adapter-request/messages';
import { type AdapterConnections, unusable } from '../shared/adapter-connections';
import { pollChannel, type PollStores } from './poll';
import { probeCommunity, probeTeamChat } from './probe';

export interface AdapterRequestDependencies extends PollStores, Pick<Stores, 'adapters'> {
  connections: AdapterConnections;
  now: () => Date;
}

type AdapterRef = Pick<AdapterRequestInput, 'adapterId'>;

export function createAdapterRequestActivities(deps: AdapterRequestDependencies) {
  const { adapters, connections, now } = deps;
  return {
    /** Finds out how the other side of an adapter does, and records it. Changes nothing there. */
    async probeAdapter({ adapterId }: AdapterRef): Promise<AdapterProbe['status']> {
      const record = await adapters.get(adapterId);
      if (!record) {
        return 'unknown';
      }
      const found =
        record.kind === 'community'
          ? await probeCommunity(connections, record)
          : await probeTeamChat(connections, record);
      await adapters.recordProbe(adapterId, record.revision, { ...found, checkedAt: now().toISOString() });
      return found.status;
    },

    /**
     * Reads the mapped channel of a community. What was read before a failure is not read twice.
     *
     * @throws ApplicationFailure with the reason as its type
     */
    async pollAdapter({ adapterId }: AdapterRef): Promise<PollReport> {
      const record = await adapters.get(adapterId);
      const problem = unusable(record);
      if (problem || record?.kind !== 'community') {
        throw refused(problem?.reasonCode ?? 'not-polled', problem?.error ?? 'Only communities are polled.');
      }
      const community = connections.community(record);
      if ('reasonCode' in community) {
        throw refused(community.reasonCode, community.error);
      }
      try {
        const of = { adapterId, publicKey: record.publicKey, now: now() };
        return { ...(await pollChannel(deps, community, of)), polledAt: now().toISOString() };
      } catch (error) {
        throw error instanceof RelayError ? refused(error.reasonCode, error.message) : error;
      }
    },
  };
}

const refused = (type: string, message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, type);

export type AdapterRequestActivities = ReturnType<typeof createAdapterRequestActivities>;
