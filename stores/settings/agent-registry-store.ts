import type { RegisteredAgent } from '../../contracts/settings/agent-registry';
import { presentRegistration, type Registration } from '../../domain/registry/registration';
import { AppError } from '../../platform/errors/app-error';
import type { Database, Stored } from '../port/collection';
import { inPages } from '../port/in-pages';
import { insertOnce } from '../port/insert';

type RegistrationRecord = Stored & { revision: number; lastHeartbeat: string; registration: Registration };

/** How long a registration counts after its last heartbeat (specification 2, Routing rule 4), in milliseconds. */
export const registrationFreshMs = 5 * 60_000;

/** Agents that were silent for this long are forgotten, in seconds. */
const forgottenAfterSeconds = 30 * 86_400;

const maxListed = 1_000;
const maxTries = 20;

export interface RegistryStoreOptions {
  now?: () => Date;
  freshMs?: number;
}

/** Agents that announce themselves, with the manifest of what they can do and their last sign of life. */
export async function createAgentRegistryStore(
  db: Database,
  { now = () => new Date(), freshMs = registrationFreshMs }: RegistryStoreOptions = {},
) {
  const agents = await db.collection<RegistrationRecord>({
    name: 'agent-registry',
    indexes: [{ keys: { lastHeartbeat: -1 } }],
    expire: { field: 'lastHeartbeat', afterSeconds: forgottenAfterSeconds },
  });
  const freshSince = () => new Date(now().getTime() - freshMs).toISOString();
  const present = ({ registration, revision }: RegistrationRecord): RegisteredAgent =>
    presentRegistration(registration, revision, registration.lastHeartbeat >= freshSince());

  /** Whether `next` was written: no other writer has changed it since `current` was read. */
  async function write(
    id: string,
    current: RegistrationRecord | undefined,
    registration: Registration,
  ): Promise<boolean> {
    const { lastHeartbeat } = registration;
    if (current) {
      const written = await agents.findOneAndUpdate(
        { _id: id, revision: current.revision },
        { $set: { registration, lastHeartbeat }, $inc: { revision: 1 } },
      );
      return written !== undefined;
    }
    return insertOnce(agents, { _id: id, revision: 1, lastHeartbeat, registration });
  }

  return {
    freshMs,
    now,

    /**
     * Changes one registration by compare-and-set; `next` runs again when another writer was faster. `undefined` from `next`
     * changes nothing.
     */
    async change(
      id: string,
      next: (current: Registration | undefined) => Registration | undefined,
    ): Promise<RegisteredAgent | undefined> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const current = await agents.get(id);
        const registration = next(current?.registration);
        if (!registration) {
          return undefined;
        }
        if (await write(id, current, registration)) {
          return present({
            _id: id,
            revision: (current?.revision ?? 0) + 1,
            lastHeartbeat: registration.lastHeartbeat,
            registration,
          });
        }
      }
      throw new AppError('CONFLICT', {
        status: 409,
        message: `Too many concurrent changes of the registration ${id}. Try again.`,
      });
    },

    async get(id: string): Promise<RegisteredAgent | undefined> {
      const record = await agents.get(id);
      return record && present(record);
    },

    /** All of them, by id. */
    async list(): Promise<RegisteredAgent[]> {
      const all: RegisteredAgent[] = [];
      for await (const record of inPages(agents, {})) {
        all.push(present(record));
      }
      return all;
    },

    /** Those with a heartbeat that is recent enough to count. */
    async fresh(): Promise<RegisteredAgent[]> {
      const records = await agents.find(
        { lastHeartbeat: { $gte: freshSince() } },
        { sort: { lastHeartbeat: -1 }, limit: maxListed },
      );
      return records.map(present);
    },

    /** Whether there was one. */
    remove: async (id: string): Promise<boolean> => (await agents.deleteMany({ _id: id })) > 0,
  };
}

export type AgentRegistryStore = Awaited<ReturnType<typeof createAgentRegistryStore>>;
