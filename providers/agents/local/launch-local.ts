import { type AttemptHandleFile, attemptHandleHeader } from '../../../contracts/runs/attempt-handle';
import type { DeliveredToolBridge } from '../../../contracts/runs/launch/tool-bridge';
import { errorMessage } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { findCommand } from '../../../platform/processes/find-command';
import { currentTraceContext, type TraceContext } from '../../../platform/tracing/spans';
import { verifyDirectory } from '../../git/worktrees/verify-worktree';
import type { RunSandbox } from '../../sandbox/run-sandbox';
import type { Detachment } from '../detached/detached-agent';
import { findDetached } from '../detached/find-detached';
import { launchDetached } from '../detached/launch-detached';
import { type AgentDispatch, AttemptMovedOnError, type OrphanedAgent, type ReattachRefusal } from '../provider';
import { agentEnvironment, type AgentHost, toolServerSecrets } from './agent-environment';
import { attemptVariable } from './end-attempt';
import type { RecordedOutput } from './recorded-output';
import { spawnAgent, type SpawnedAgent } from './spawn-agent';
import { type TransportFile, transportFile, writeToolBridge, writeTransport } from './transport-file';

export interface LaunchedAgent {
  agent: SpawnedAgent & { detachment?: Detachment };
  /** What earlier workers have recorded of it, when it is resumed. */
  recorded?: RecordedOutput;
  transport: TransportFile;
  /** The transport document, as it was written. */
  json: string;
  /** Values the agent was given that are hidden in what is recorded. */
  secrets: string[];
  /** What everything of the run is started in. */
  sandbox?: RunSandbox | undefined;
}

/** Where and in what an agent is started. */
export interface LaunchLocation {
  host: AgentHost;
  sandbox?: RunSandbox | undefined;
}

/**
 * Starts the agent's process with its task on disk, or returns why that is impossible.
 *
 * @param location where it is started
 * @param over aborted when nothing is left that could write to the agent's streams
 */
export async function launchLocal(
  dispatch: AgentDispatch,
  { host, sandbox }: LaunchLocation,
  over: AbortSignal,
): Promise<LaunchedAgent | { problem: string }> {
  const { agent, attemptId, taskId, transportDir, worktreePath, spoolDir } = dispatch;
  const toolBridge = dispatch.toolBridge && JSON.stringify(dispatch.toolBridge);
  const { variables, secrets, refused } = agentEnvironment(host, agent.environmentKeys);
  if (refused.length > 0) {
    return { problem: refused.join(' ') };
  }
  const command = findCommand(agent.command ?? '', variables.PATH ?? '');
  if ('problem' in command) {
    return command;
  }
  // The system reports a missing working directory as if the command were missing.
  try {
    if (!verifyDirectory(worktreePath, dispatch.worktreeIdentity)) {
      return { problem: `The worktree ${worktreePath} does not exist.` };
    }
  } catch (error) {
    return { problem: (error as Error).message };
  }

  const traceContext = currentTraceContext();
  const json = documentOf(dispatch, traceContext);
  const handle = handleFile(dispatch);
  const transport = await writeTransport(transportDir, attemptId, { json, user: host.user, handle, toolBridge });
  try {
    // The last thing before the start: this worker may have been asleep since it was given the attempt.
    if ((await dispatch.isCurrent?.()) === false) {
      throw new AttemptMovedOnError(attemptId);
    }
    const env = {
      ...variables,
      BOARD_TASK_ID: taskId,
      [attemptVariable]: attemptId,
      BOARD_TASK_ENVELOPE: transport.path,
      ...sandbox?.environment,
      ...(traceContext && { TRACEPARENT: traceContext.traceparent }),
      ...(handle === undefined ? {} : { BOARD_ATTEMPT_HANDLE: transport.handlePath }),
      ...(toolBridge === undefined ? {} : { BOARD_TOOL_BRIDGE: transport.toolBridgePath }),
    };
    const request = {
      path: command.path,
      args: agent.args,
      cwd: worktreePath,
      env,
      marker: attemptVariable,
      user: host.user,
      ...compact({ confine: sandbox?.wrap }),
    };
    const spawned =
      spoolDir === undefined
        ? await spawnAgent(request)
        : await launchDetached(request, {
            spoolDir,
            json: boundDocument(dispatch),
            secrets,
            over,
            limitBytes: spoolLimit(dispatch),
          });
    return { agent: spawned, transport, json, sandbox, secrets: [...secrets, ...toolServerSecrets(agent, host)] };
  } catch (error) {
    transport.remove();
    if (error instanceof AttemptMovedOnError) {
      throw error;
    }
    return { problem: `${command.path} could not be started: ${errorMessage(error)}` };
  }
}

/** The part of the document that is the same for every worker of the attempt: what is recorded. */
const boundDocument = ({ transport }: AgentDispatch): string => JSON.stringify(transport);

/** The document as the agent receives it: what is recorded, where the tools of the run are called, and the trace that it is in. */
function documentOf(
  { transport, transportDir, attemptId, toolBridge }: AgentDispatch,
  traceContext?: TraceContext,
): string {
  const bound = { ...transport, ...compact({ traceContext }) };
  if (!toolBridge) {
    return JSON.stringify(bound);
  }
  const { catalogDigest, catalogUrl, callUrl, mcpUrl } = toolBridge;
  const handlePath = transportFile(transportDir, attemptId).toolBridgePath;
  const delivered: DeliveredToolBridge = { catalogDigest, catalogUrl, callUrl, mcpUrl, handleFile: handlePath };
  return JSON.stringify({ ...bound, toolBridge: delivered });
}

/** What the agent is given to act in the name of its attempt. */
function handleFile({ taskId, attemptId, handle }: AgentDispatch): string | undefined {
  if (handle === undefined) {
    return undefined;
  }
  const file: AttemptHandleFile = {
    schemaVersion: 'attempt-handle/v1',
    taskId,
    attemptId,
    header: attemptHandleHeader,
    handle,
  };
  return JSON.stringify(file);
}

/** An agent's text is more than what is recorded of it, most of all once its limit is reached. */
const spoolLimit = ({ outputLimitBytes }: AgentDispatch): number => outputLimitBytes * 10;

/**
 * Resumes an agent that another worker of this host has started, or returns why that is impossible. The environment of `host`
 * has to have what was passed to the agent.
 */
export async function adoptLocal(
  dispatch: AgentDispatch,
  { process: identity, recorded }: OrphanedAgent,
  { host, over }: { host: AgentHost; over: AbortSignal },
): Promise<LaunchedAgent | { refused: ReattachRefusal }> {
  const { agent, attemptId, transportDir, spoolDir } = dispatch;
  if (spoolDir === undefined) {
    return { refused: 'adapter-reattach-unsupported' };
  }
  const { secrets } = agentEnvironment(host, agent.environmentKeys);
  const transport = transportFile(transportDir, attemptId);
  if (dispatch.toolBridge) {
    if ((await dispatch.isCurrent?.()) === false) {
      throw new AttemptMovedOnError(attemptId);
    }
    // The handle that the worker before has issued counts no more.
    await writeToolBridge(transport, JSON.stringify(dispatch.toolBridge), host.user);
  }
  const bound = { json: boundDocument(dispatch), secrets };
  const limitBytes = spoolLimit(dispatch);
  const detached = await findDetached({ attemptId, spoolDir, identity, ...bound, over, limitBytes });
  return 'refused' in detached
    ? detached
    : { agent: detached, recorded, transport, json: documentOf(dispatch), secrets };
}
