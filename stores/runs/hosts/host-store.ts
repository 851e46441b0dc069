import type { Capacity } from '../../../contracts/runs/admission';
import type { LaunchFinding } from '../../../contracts/runs/launch/manifest';
import type { AnnouncedPresets } from '../../../contracts/settings/agent-preset';
import type { VisibleProcess } from '../../../platform/processes/identity';
import type { Database } from '../../port/collection';
import { inPages } from '../../port/in-pages';

/** One worker process as its host announces it. */
export interface WorkerAnnouncement {
  /** How many runs it executes at a time; what processes and memory it has is for people to see. */
  capacity: Capacity;
  /** Task queues it polls. */
  queues: string[];
  /** It takes no new work. */
  draining: boolean;
  /** What runs lack there; none from earlier versions. */
  findings?: LaunchFinding[];
  /** What it finds of the agents of today; none from earlier versions. */
  agentPresets?: AnnouncedPresets;
  /** The release that it runs; none from earlier ones. */
  version?: string;
  /** The version of the worker deployment that it is a part of, where it is of one. */
  buildId?: string;
  /** Its process, so that the other workers of the host notice its death; none from earlier versions. */
  process?: VisibleProcess;
}

export interface HostDrain {
  at: string;
  by: string;
  reason: string | null;
}

/** A machine whose workers run agents: its task queue is `host/<_id>`. */
export interface HostRecord {
  _id: string;
  hostname: string;
  seenAt: string;
  workers?: Record<string, WorkerAnnouncement & { seenAt: string }>;
  /** An operator has it take no new runs. */
  drain?: HostDrain;
  /** Run slots that were reserved on it when it was last announced. */
  reservedRuns?: number;
}

/** Whether a host takes work now, and how many runs it announced to execute at a time, if it did. */
export interface HostCapacity {
  takesWork: boolean;
  runs: number | undefined;
}

/** A host counts as live while a worker of it was seen within this time, in milliseconds. */
const freshMs = 60_000;
/** How many hosts one choice considers. */
const maxHosts = 1_000;

export async function createHostStore(db: Database, now: () => Date = () => new Date()) {
  const hosts = await db.collection<HostRecord>({ name: 'hosts', indexes: [{ keys: { seenAt: -1 } }] });
  const since = () => new Date(now().getTime() - freshMs).toISOString();

  /** Run slots of the live workers that take work; `undefined` for a host whose workers never reported what they can do. */
  const runsOf = ({ workers, drain }: HostRecord): number | undefined => {
    if (drain) {
      return 0;
    }
    if (!workers) {
      return undefined;
    }
    const live = Object.values(workers).filter(({ seenAt, draining }) => seenAt >= since() && !draining);
    return live.reduce((sum, { capacity }) => sum + capacity.runs, 0);
  };
  const liveWorkersOf = ({ workers = {}, drain }: HostRecord) =>
    Object.entries(workers)
      .filter(([, { seenAt }]) => seenAt >= since())
      .map(([workerId, worker]) => ({ ...worker, workerId, draining: worker.draining || drain !== undefined }));
  const takesWork = (host: HostRecord): boolean => host.seenAt >= since() && runsOf(host) !== 0;
  const everyLive = async (): Promise<HostRecord[]> => {
    const all: HostRecord[] = [];
    for await (const host of inPages(hosts, { seenAt: { $gte: since() } })) {
      all.push(host);
    }
    return all;
  };
  const live = () => hosts.find({ seenAt: { $gte: since() } }, { sort: { seenAt: -1 }, limit: maxHosts });

  async function anyLive(): Promise<string | undefined> {
    const candidates = (await live()).filter(takesWork);
    // Weighed by remaining capacity, so that many launches at once do not all go to the one that was emptiest a moment ago.
    const weighed = candidates.map((host) => ({
      id: host._id,
      room: Math.max(0.01, (runsOf(host) ?? 1) - (host.reservedRuns ?? 0)),
    }));
    let point = Math.random() * weighed.reduce((sum, { room }) => sum + room, 0);
    return weighed.find(({ room }) => (point -= room) <= 0)?.id ?? weighed[0]?.id;
  }

  return {
    /** Every live host, by id. */
    everyLive,

    /** Records that a host is live, and nothing about what it can do. */
    announce: (id: string, hostname: string) =>
      hosts.findOneAndUpdate({ _id: id }, { $set: { hostname, seenAt: now().toISOString() } }, { upsert: true }),

    /** Records that a worker of the host is live, what it can do, and whether it still takes work. */
    async announceWorker(
      id: string,
      worker: WorkerAnnouncement & { hostname: string; workerId: string; reservedRuns: number },
    ): Promise<void> {
      const { hostname, workerId, reservedRuns, ...announcement } = worker;
      const seenAt = now().toISOString();
      const host = await hosts.findOneAndUpdate(
        { _id: id },
        { $set: { hostname, seenAt, reservedRuns, [`workers.${workerId}`]: { ...announcement, seenAt } } },
        { upsert: true },
      );
      const gone = Object.entries(host?.workers ?? {}).filter(([, { seenAt: last }]) => last < since());
      for (const [name, { seenAt: last }] of gone) {
        await hosts.findOneAndUpdate(
          { _id: id, [`workers.${name}.seenAt`]: last },
          { $unset: { [`workers.${name}`]: '' } },
        );
      }
    },

    /** The workers that the host has announced, by id; those too that have died since. */
    workersOf: async (id: string): Promise<Record<string, WorkerAnnouncement & { seenAt: string }>> =>
      (await hosts.get(id))?.workers ?? {},

    /** Takes a worker that has ended from its host. */
    withdrawWorker: (id: string, workerId: string) =>
      hosts.findOneAndUpdate({ _id: id }, { $unset: { [`workers.${workerId}`]: '' } }),

    /** A live host that takes work, the likelier the more remaining capacity it has; `undefined` when there is none. */
    anyLive,

    /** Where a launch goes: a host that takes work, else one that is drained, whose launches wait until it is resumed. */
    anyForLaunch: async (): Promise<string | undefined> =>
      (await anyLive()) ?? (await live()).find(({ drain }) => drain !== undefined)?._id,

    async capacityOf(id: string): Promise<HostCapacity> {
      const host = await hosts.get(id);
      return { takesWork: host !== undefined && takesWork(host), runs: host && runsOf(host) };
    },

    /** The same of every live host, by its id. */
    async capacities(): Promise<Map<string, HostCapacity>> {
      const capacityOf = (host: HostRecord) => ({ takesWork: takesWork(host), runs: runsOf(host) });
      return new Map((await everyLive()).map((host) => [host._id, capacityOf(host)]));
    },

    /** What the live workers report of a program; nothing when there is none, or one has nothing to report of it. */
    async findingsOf(program: string): Promise<LaunchFinding[]> {
      const workers = (await live()).flatMap(liveWorkersOf);
      const reported = workers.map(({ findings = [] }) => findings.filter((finding) => finding.program === program));
      return reported.every((findings) => findings.length > 0) ? reported.flat() : [];
    },

    /** What the live workers of a host report that runs lack there, each finding once. */
    findingsOn: (host: HostRecord): LaunchFinding[] => {
      const reported = liveWorkersOf(host).flatMap(({ findings = [] }) => findings);
      return [...new Map(reported.map((finding) => [`${finding.code} ${finding.message}`, finding])).values()];
    },

    /** What each live host has for the agents of today, as its worker that was seen last announced it. */
    async agentPresets(): Promise<{ hostId: string; announced: AnnouncedPresets }[]> {
      return (await everyLive()).flatMap(({ _id: hostId, workers = {} }) => {
        const fresh = Object.values(workers).filter(({ seenAt }) => seenAt >= since());
        const [announced] = fresh
          .flatMap(({ agentPresets }) => agentPresets ?? [])
          .sort((one, other) => other.checkedAt.localeCompare(one.checkedAt));
        return announced ? [{ hostId, announced }] : [];
      });
    },

    /** Has a host take no new runs, workers of it that come later included; one that is drained stays as it is. */
    async drain(id: string, { by, reason }: Omit<HostDrain, 'at'>): Promise<HostRecord | undefined> {
      const drain = { at: now().toISOString(), by, reason };
      await hosts.findOneAndUpdate({ _id: id, drain: { $exists: false } }, { $set: { drain } });
      return hosts.get(id);
    },

    /** Has a host that was drained take new runs. */
    async resume(id: string): Promise<HostRecord | undefined> {
      await hosts.findOneAndUpdate({ _id: id }, { $unset: { drain: '' } });
      return hosts.get(id);
    },

    isDrained: async (id: string): Promise<boolean> => (await hosts.get(id))?.drain !== undefined,

    /** Whether a worker of the host was ever seen. */
    isKnown: async (id: string): Promise<boolean> => (await hosts.get(id)) !== undefined,

    /** The live hosts with what their workers announced. */
    live,

    /** The workers of a host that are live. */
    liveWorkersOf,
  };
}

export type HostStore = Awaited<ReturnType<typeof createHostStore>>;
