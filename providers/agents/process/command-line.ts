import type { AgentCommand } from '../../../contracts/agent-command';

/** The line of the process protocol that a command is; docs/agents.md shows them to whoever writes an agent. */
export function commandLine(command: AgentCommand): string {
  switch (command.type) {
    case 'message':
    case 'steer':
      return JSON.stringify({ type: command.type, message: command.message });
    case 'interrupt':
    case 'compact':
    case 'archive':
    case 'close':
      return JSON.stringify({ type: command.type });
  }
}
