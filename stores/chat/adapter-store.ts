import type { AdapterProbe, CommunityAdapter, TeamChatAdapter } from '../../contracts/chat/adapter';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords, type Recorded } from '../port/configured-records';
import type { SealedCredential } from '../system/credential-key-store';

/** A team chat as it is stored: what is secret is sealed. */
export interface TeamChatFields extends Omit<
  TeamChatAdapter,
  keyof Recorded | 'webhookUrlConfigured' | 'hasCredential' | 'destinationUrl'
> {
  webhookUrl?: SealedCredential;
  credential?: SealedCredential;
}
export type CommunityFields = Omit<CommunityAdapter, keyof Recorded>;
export type AdapterFields = TeamChatFields | CommunityFields;
export type AdapterRecord = AdapterFields & Recorded;

/** What a sealed secret of an adapter belongs to. */
export const sealContext = (adapterId: string, field: 'webhookUrl' | 'credential'): string =>
  `adapter/${adapterId}/${field}`;

export interface ProbeRecord extends Stored {
  probe: AdapterProbe;
  /** Of the adapter that was probed. */
  revision: number;
}

/** Connections to team chats and communities by id, and what the last probe of each found. */
export async function createAdapterStore(db: Database) {
  const records = await createConfiguredRecords<AdapterFields>(db, 'adapters');
  const probes = await db.collection<ProbeRecord>({ name: 'adapter-probes' });
  return {
    ...records,

    probeOf: (adapterId: string): Promise<ProbeRecord | undefined> => probes.get(adapterId),

    /** Records a probe, unless a newer revision was probed before. */
    async recordProbe(adapterId: string, revision: number, probe: AdapterProbe): Promise<void> {
      const stored = await probes.get(adapterId);
      if (stored && stored.revision > revision) {
        return;
      }
      await probes.findOneAndUpdate({ _id: adapterId }, { $set: { probe, revision } }, { upsert: true });
    },
  };
}
