import type {
  AgentCapabilities,
  AgentLevel,
  AgentPermission,
  AgentPermissionFields,
} from '../../contracts/governance/agent-permission';
import type { Database } from '../port/collection';
import { createConfiguredRecords, type Recorded } from '../port/configured-records';

const byLevel: Record<AgentLevel, AgentCapabilities> = {
  intern: { canCreateTasks: false, canDelegate: false, canApprove: false },
  specialist: { canCreateTasks: true, canDelegate: false, canApprove: false },
  lead: { canCreateTasks: true, canDelegate: true, canApprove: true },
};

/** What an agent of a level may do unless it is set otherwise. */
export const capabilitiesOf = (level: AgentLevel): AgentCapabilities => byLevel[level];

const unset: AgentPermissionFields = {
  level: 'specialist',
  ...byLevel.specialist,
  trustedDomains: [],
  restrictions: [],
};

const present = ({ id, ...fields }: AgentPermissionFields & Recorded): AgentPermission => ({ agentId: id, ...fields });

/** What each agent may do. Every agent has permissions: an agent without a record is a specialist. */
export async function createAgentPermissionStore(db: Database) {
  const records = await createConfiguredRecords<AgentPermissionFields>(db, 'agent-permissions');
  const of = (agentId: string, record: (AgentPermissionFields & Recorded) | undefined): AgentPermission =>
    record ? present(record) : { agentId, ...unset, revision: 0 };

  return {
    get: async (agentId: string): Promise<AgentPermission> => of(agentId, await records.get(agentId)),

    /** The recorded ones, by agent. */
    list: async (): Promise<AgentPermission[]> => (await records.list()).map(present),

    /** @throws StaleRevisionError when the agent has a record already */
    create: async (agentId: string, fields: Partial<AgentPermissionFields>): Promise<AgentPermission> =>
      present(await records.create(agentId, { ...unset, ...fields })),

    /**
     * Sets fields of the agent's current permissions.
     *
     * @param change may run more than once, and throws to refuse
     */
    change: async (
      agentId: string,
      change: (current: AgentPermission) => Partial<AgentPermissionFields>,
    ): Promise<AgentPermission> =>
      present(
        await records.change(agentId, (record) => {
          const current = of(agentId, record);
          const { agentId: _id, revision: _revision, createdAt: _made, updatedAt: _at, ...fields } = current;
          return { ...fields, ...change(current) };
        }),
      ),
  };
}

export type AgentPermissionStore = Awaited<ReturnType<typeof createAgentPermissionStore>>;
