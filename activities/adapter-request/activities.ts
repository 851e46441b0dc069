import { ApplicationFailure } from '@temporalio/common';
import type { AdapterProbe } from '../../contracts/chat/adapter';
import type { PollReport } from '../../contracts/chat/adapter-delivery';
import { RelayError } from '../../providers/communication/community/relay';
import type { CommunityFields } from '../../stores/chat/adapter-store';
import type { Stores } from '../../stores/open-stores';
import type { AdapterRequestInput } from '../../workflows/adapter-request/messages';
import { type AdapterConnections, type Community, unusable } from '../shared/adapter-connections';
import { readDefinitions } from './definitions';
import { pollChannel, type PollStores } from './poll';
import { probeCommunity, probeTeamChat } from './probe';

export interface AdapterRequestDependencies extends PollStores, Pick<Stores, 'adapterDefinitions' | 'adapters'> {
  connections: AdapterConnections;
  now: () => Date;
}

type AdapterRef = Pick<AdapterRequestInput, 'adapterId'>;

export function createAdapterRequestActivities(deps: AdapterRequestDependencies) {
  const { adapterDefinitions, adapters, connections, now } = deps;
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
    pollAdapter: ({ adapterId }: AdapterRef): Promise<PollReport> =>
      readCommunity(adapterId, async (community, { publicKey }) => {
        const report = await pollChannel(deps, community, { adapterId, publicKey, now: now() });
        return { ...report, polledAt: now().toISOString() };
      }),

    /**
     * Stores the definitions of agents that a community publishes, instead of those that were read before.
     *
     * @throws ApplicationFailure with the reason as its type
     */
    readAdapterDefinitions: ({ adapterId }: AdapterRef): Promise<number> =>
      readCommunity(adapterId, async (community) => {
        const found = await readDefinitions(community);
        await adapterDefinitions.replace(adapterId, found, now().toISOString());
        return found.length;
      }),
  };

  async function readCommunity<T>(
    adapterId: string,
    read: (community: Community, record: CommunityFields) => Promise<T>,
  ): Promise<T> {
    const record = await adapters.get(adapterId);
    const problem = unusable(record);
    if (problem || record?.kind !== 'community') {
      throw refused(problem?.reasonCode ?? 'not-read', problem?.error ?? 'Only communities can be read.');
    }
    const community = connections.community(record);
    if ('reasonCode' in community) {
      throw refused(community.reasonCode, community.error);
    }
    try {
      return await read(community, record);
    } catch (error) {
      throw error instanceof RelayError ? refused(error.reasonCode, error.message) : error;
    }
  }
}

const refused = (type: string, message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, type);

export type AdapterRequestActivities = ReturnType<typeof createAdapterRequestActivities>;
