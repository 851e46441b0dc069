import { type AgentConfig, agentConfig } from '../../../contracts/settings/agent-config';

/** A configured agent. */
export const anAgent = (fields: Partial<AgentConfig> = {}): AgentConfig =>
  agentConfig.parse({ type: 'bee', name: 'Bee', provider: 'process', command: 'bee', ...fields });
