import type { Database } from './collection';

/** A machine whose workers run agents: its task queue is `host/<_id>`. */
export interface HostRecord {
  _id: string;
  hostname: string;
  seenAt: string;
}

/** A host counts as live while a worker of it was seen within this time, in milliseconds. */
const freshMs = 60_000;

export async function createHostStore(db: Database, now: () => Date = () => new Date()) {
  const hosts = await db.collection<HostRecord>({ name: 'hosts', indexes: [{ keys: { seenAt: -1 } }] });
  const since = () => new Date(now().getTime() - freshMs).toISOString();
  return {
    announce: (id: string, hostname: string) =>
      hosts.findOneAndUpdate({ _id: id }, { $set: { hostname, seenAt: now().toISOString() } }, { upsert: true }),
    /** The most recently seen live host; `undefined` when none is. */
    async anyLive(): Promise<string | undefined> {
      const [host] = await hosts.find({ seenAt: { $gte: since() } }, { sort: { seenAt: -1 }, limit: 1 });
      return host?._id;
    },
    /** Every live host, at most 1,000, the most recently seen first. */
    live: () => hosts.find({ seenAt: { $gte: since() } }, { sort: { seenAt: -1 }, limit: 1_000 }),
  };
}

export type HostStore = Awaited<ReturnType<typeof createHostStore>>;
