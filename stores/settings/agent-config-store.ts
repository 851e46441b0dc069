import { type AgentConfig, maxAgents } from '../../contracts/settings/agent-config';
import { AppError, conflict } from '../../platform/errors/app-error';
import { isSameJson } from '../../platform/json/same';
import type { Collection, Database } from '../port/collection';
import { StaleRevisionError } from '../port/errors';
import { insertOnce } from '../port/insert';

/** The one document of the configured agents. */
interface AgentSettings {
  _id: 'agents';
  revision: number;
  agents: AgentConfig[];
  /** The agent that was chosen as default; null means the first of the list. */
  chosenDefault: string | null;
}

/** The configured agents as callers see them. */
export interface AgentConfiguration {
  agents: AgentConfig[];
  /** What a launch that names no agent takes: the chosen one, else the first enabled one, else null. */
  defaultAgent: string | null;
  /** 0 until agents are configured for the first time. */
  revision: number;
}

export interface AgentConfigStore {
  read(): Promise<AgentConfiguration>;
  /** A chosen default that is no longer an enabled agent is forgotten. @throws StaleRevisionError */
  replace(agents: AgentConfig[], expectedRevision?: number): Promise<AgentConfiguration>;
  /**
   * Adds an agent at the end of the list.
   *
   * @throws StaleRevisionError
   * @throws AppError 409 when the type is configured, or there are as many agents as there may be
   */
  add(agent: AgentConfig, expectedRevision?: number): Promise<AgentConfiguration>;
  /** `null` takes the choice back. @throws AppError 400 when the agent is not configured and enabled */
  setDefault(agent: string | null): Promise<AgentConfiguration>;
  /** The configured agent of this type, enabled or not. */
  find(type: string): Promise<AgentConfig | undefined>;
}

/** Writers of one document do not stay in each other's way for longer than this. */
const maxAttempts = 50;

const none: AgentSettings = { _id: 'agents', revision: 0, agents: [], chosenDefault: null };

const isEnabled = (agents: AgentConfig[], type: string | null): boolean =>
  agents.some((agent) => agent.enabled && agent.type === type);

const present = ({ agents, chosenDefault, revision }: AgentSettings): AgentConfiguration => ({
  agents,
  defaultAgent: chosenDefault ?? agents.find((agent) => agent.enabled)?.type ?? null,
  revision,
});

/** Writes `next` if the document is still at `seen`; `undefined` when another writer was faster. */
async function replaceAt(
  settings: Collection<AgentSettings>,
  seen: AgentSettings,
  next: Pick<AgentSettings, 'agents' | 'chosenDefault'>,
): Promise<AgentSettings | undefined> {
  if (seen.revision > 0) {
    return settings.findOneAndUpdate({ _id: 'agents', revision: seen.revision }, { $set: next, $inc: { revision: 1 } });
  }
  const first: AgentSettings = { _id: 'agents', revision: 1, ...next };
  return (await insertOnce(settings, first)) ? first : undefined;
}

export async function createAgentConfigStore(db: Database): Promise<AgentConfigStore> {
  const settings = await db.collection<AgentSettings>({ name: 'settings' });
  const load = async (): Promise<AgentSettings> => (await settings.get('agents')) ?? none;

  const change = async (
    next: (current: AgentSettings) => Pick<AgentSettings, 'agents' | 'chosenDefault'>,
    expectedRevision?: number,
  ): Promise<AgentConfiguration> => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const current = await load();
      if (expectedRevision !== undefined && expectedRevision !== current.revision) {
        const { revision } = current;
        throw new StaleRevisionError('settings', 'agents', {
          expectedRevision,
          current: { revision, shown: present(current) },
        });
      }
      const changed = next(current);
      const { agents, chosenDefault } = current;
      if (current.revision > 0 && isSameJson(changed, { agents, chosenDefault })) {
        return present(current);
      }
      const written = await replaceAt(settings, current, changed);
      if (written) {
        return present(written);
      }
    }
    throw new AppError('CONFLICT', {
      status: 409,
      message: 'Too many concurrent changes of the configured agents. Try again.',
    });
  };

  return {
    read: async () => present(await load()),
    replace: (agents, expectedRevision) =>
      change(
        ({ chosenDefault }) => ({ agents, chosenDefault: isEnabled(agents, chosenDefault) ? chosenDefault : null }),
        expectedRevision,
      ),
    add: (agent, expectedRevision) =>
      change(({ agents, chosenDefault }) => {
        const existing = agents.find(({ type }) => type === agent.type);
        if (existing) {
          throw conflict(`An agent of the type ${agent.type} is configured already.`, {
            agent: existing,
            remediation: 'Choose another type, or change the agent with PUT /api/config/agents.',
          });
        }
        if (agents.length >= maxAgents) {
          throw conflict(`There are ${maxAgents} agents, which is the most.`, {
            remediation: 'Remove one with PUT /api/config/agents.',
          });
        }
        return { agents: [...agents, agent], chosenDefault };
      }, expectedRevision),
    setDefault: (agent) =>
      change(({ agents }) => {
        if (agent !== null && !isEnabled(agents, agent)) {
          throw new AppError('VALIDATION_ERROR', {
            status: 400,
            message: 'The default must be a configured, enabled agent.',
            details: {
              issues: [{ path: 'agent', message: 'is not a configured, enabled agent', code: 'unknown_agent' }],
            },
          });
        }
        return { agents, chosenDefault: agent };
      }),
    find: async (type) => (await load()).agents.find((agent) => agent.type === type),
  };
}
