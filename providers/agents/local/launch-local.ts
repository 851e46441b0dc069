import { stat } from 'node:fs/promises';
import { errorMessage } from '../../../platform/errors/app-error';
import type { AgentDispatch } from '../provider';
import { agentEnvironment } from './agent-environment';
import { attemptVariable } from './end-attempt';
import { findCommand } from './find-command';
import { type SpawnedAgent, spawnAgent } from './spawn-agent';
import { type TransportFile, writeTransport } from './transport-file';

export interface LaunchedAgent {
  agent: SpawnedAgent;
  transport: TransportFile;
  /** The transport document, as it was written. */
  json: string;
  /** Values the agent was given that are hidden in what is recorded. */
  secrets: string[];
}

/**
 * Starts the agent's process with its task on disk, or says why that is impossible.
 *
 * @param source the environment of this process
 */
export async function launchLocal(
  dispatch: AgentDispatch,
  source: NodeJS.ProcessEnv,
): Promise<LaunchedAgent | { problem: string }> {
  const { agent, attemptId, taskId, transportDir, worktreePath } = dispatch;
  const { variables, secrets } = agentEnvironment(source, agent.environmentKeys);
  const command = await findCommand(agent.command ?? '', variables.PATH ?? '');
  if ('problem' in command) return command;
  // The system reports a missing working directory as if the command were missing.
  const directory = await stat(worktreePath).catch(() => undefined);
  if (!directory?.isDirectory()) return { problem: `The worktree ${worktreePath} is not a directory.` };

  const json = JSON.stringify(dispatch.transport);
  const transport = await writeTransport(transportDir, attemptId, json);
  try {
    const env = {
      ...variables,
      BOARD_TASK_ID: taskId,
      [attemptVariable]: attemptId,
      BOARD_TASK_ENVELOPE: transport.path,
    };
    const spawned = await spawnAgent({ path: command.path, args: agent.args, cwd: worktreePath, env });
    return { agent: spawned, transport, json, secrets };
  } catch (error) {
    await transport.remove();
    return { problem: `${command.path} could not be started: ${errorMessage(error)}` };
  }
}
