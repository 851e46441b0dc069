import type { AgentCommand } from '../../../contracts/runs/command';

/** The line of the process protocol that a command is; docs/use/runs/agents.md shows them to authors of agents. */
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
