import type { Filter } from 'mongodb';
import { type Activity, type ActivityQuery, type ActivityType, activityType } from '../../contracts/chat/activity';
import { compact } from '../../platform/json/compact';
import { offsetOfPage, type Page, pageFrom, type PageRequest } from '../../platform/lists/page';
import { newRecordId } from '../../platform/operations/operation';
import type { Collection, Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';

type ActivityRecord = Stored & Omit<Activity, 'id'>;

export type NewActivity = Omit<Activity, 'id' | 'timestamp' | 'agent'>;

/** How long it is retained, in days. */
export const activityRetentionDays = 90;

const present = ({ _id, ...record }: ActivityRecord): Activity => ({ id: _id, ...record });

/** The name in `agent:<name>`. */
const agentOf = (actor = ''): string | undefined => (actor.startsWith('agent:') ? actor.slice(6) : undefined);

/** What was done on the board, and who did it (specification 1, Mount list). */
export async function createActivityStore(db: Database, now: () => Date = () => new Date()) {
  const newest = { timestamp: -1, _id: -1 } as const;
  const activities: Collection<ActivityRecord> = await db.collection<ActivityRecord>({
    name: 'activity',
    indexes: [
      { keys: newest },
      { keys: { agent: 1, ...newest } },
      { keys: { type: 1, ...newest } },
      { keys: { taskId: 1, ...newest } },
    ],
    expire: { field: 'timestamp', afterSeconds: activityRetentionDays * 86_400 },
  });

  /** The agents there are, by jumping from one to the next in the index. */
  async function agents({ limit, cursor }: PageRequest): Promise<Page<string>> {
    const actors: string[] = [];
    for (let after = cursor?.id ?? ''; actors.length <= limit;) {
      const [next] = await activities.find({ agent: { $gt: after } }, { sort: { agent: 1 }, limit: 1 });
      if (next?.agent === undefined) {
        break;
      }
      after = next.agent;
      actors.push(after);
    }
    return pageFrom(actors, limit, (agent) => ({ key: agent, id: agent }));
  }

  async function types(): Promise<ActivityType[]> {
    const typesInUse = await Promise.all(
      activityType.options.map(async (type) => (await activities.find({ type }, { limit: 1 })).map((one) => one.type)),
    );
    return typesInUse.flat();
  }

  /** Entries with their ids and times, to be written as often as it takes. */
  function toRecords(entries: readonly NewActivity[]): ActivityRecord[] {
    const timestamp = now().toISOString();
    return entries.map((entry) => {
      const agent = agentOf(entry.actor);
      return { ...entry, ...compact({ agent }), _id: newRecordId('activity'), timestamp };
    });
  }

  /** Durable when it resolves; an existing entry is not written again. */
  async function write(records: readonly ActivityRecord[]): Promise<void> {
    await Promise.all(records.map((record) => insertOnce(activities, record)));
  }

  return {
    prepare: toRecords,
    write,

    /** Durable when it resolves. */
    record: (entries: readonly NewActivity[]): Promise<void> => write(toRecords(entries)),

    /** The newest first. */
    async list({ limit, cursor, page, since, until, ...fields }: ActivityQuery): Promise<Page<Activity>> {
      const entries: [string, unknown][] = Object.entries(fields);
      const stated = entries.filter(([, value]) => value !== undefined);
      const filter: Filter<ActivityRecord> = {
        ...Object.fromEntries(stated),
        timestamp: {
          $gt: since === undefined ? '' : new Date(since).toISOString(),
          ...(until === undefined ? {} : { $lte: new Date(until).toISOString() }),
        },
      };
      const part = { limit, cursor, offset: offsetOfPage(page, limit) };
      return (await findPage(activities, { filter, order: { key: 'timestamp', direction: -1 } }, part)).map(present);
    },

    /** What was done after a time, the oldest first. */
    async since(time: string, part: PageRequest): Promise<Activity[]> {
      const filter: Filter<ActivityRecord> = { timestamp: { $gt: new Date(time).toISOString() } };
      return (await findPage(activities, { filter, order: { key: 'timestamp', direction: 1 } }, part)).items.map(
        present,
      );
    },

    /** The values to filter by: one page of the agents, and all types. */
    async filters(part: PageRequest) {
      const page = await agents(part);
      return page.answer({ agents: page.items, types: await types() });
    },

    clear: (): Promise<number> => activities.deleteMany({ timestamp: { $gt: '' } }),
  };
}

export type ActivityStore = Awaited<ReturnType<typeof createActivityStore>>;
