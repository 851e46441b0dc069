import { compact } from '../../../platform/json/compact';
import { findCommand } from '../../../platform/processes/find-command';
import { openRunSandbox, type RunSandbox } from '../../sandbox/run-sandbox';
import { SandboxError } from '../../sandbox/sandbox-error';
import type { AgentDispatch } from '../provider';
import { agentEnvironment, type AgentHost } from './agent-environment';
import { transportFile } from './transport-file';

/** Opens the sandbox that a run requires, or returns why that is impossible; nothing for a run without one. */
export async function openSandbox(
  { sandbox, attemptId, agent, worktreePath, transportDir, toolBridge }: AgentDispatch,
  host: AgentHost,
): Promise<RunSandbox | { problem: string } | undefined> {
  if (!sandbox) {
    return undefined;
  }
  if (!host.sandbox) {
    return { problem: 'The run has to be confined, and this host confines none.' };
  }
  const { path, handlePath, toolBridgeDirectory } = transportFile(transportDir, attemptId);
  const { variables } = agentEnvironment(host, agent.environmentKeys);
  const program = findCommand(agent.command ?? '', variables.PATH ?? '');
  try {
    return await openRunSandbox(host.sandbox, {
      attemptId,
      ...sandbox,
      worktreePath,
      directory: transportDir,
      given: [path, handlePath, toolBridgeDirectory],
      callsApi: agent.launchesChildren === true || toolBridge !== undefined,
      ...compact({ home: variables.HOME, user: host.user, program: 'path' in program ? program.path : undefined }),
    });
  } catch (error) {
    if (error instanceof SandboxError) {
      return { problem: error.message };
    }
    throw error;
  }
}
