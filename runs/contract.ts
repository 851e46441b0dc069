import type { AgentConfig } from '../contracts/agent-config';
import type { CommitPolicy, Phase } from '../contracts/common';
import type { LaunchRequest } from '../contracts/launch';
import type { Repository } from '../contracts/repository';
import type {
  ProviderRuntimeManifest,
  RunLaunchManifest,
  TaskEnvelope,
  TaskEnvelopeTransport,
} from '../contracts/run-contract';
import type { Task } from '../contracts/task';
import { textDigest, withDigest } from './digest';

/** What of a task goes into its contract, captured at admission so that later edits of the task change nothing. */
export interface Objective {
  title: string;
  description: string;
  subtasks: { id: string; title: string; completed: boolean }[];
  allowedSideEffects: TaskEnvelope['allowedSideEffects'];
  expectedOutputs: TaskEnvelope['expectedOutputs'];
}

/** Longest text of one section of an envelope, in characters (specification 2, Limits). */
const sectionLimit = 20_000;

export const objectiveOf = (task: Task): Objective => ({
  title: task.title,
  description: task.description.slice(0, sectionLimit),
  subtasks: task.subtasks.map(({ id, title, completed }) => ({ id, title, completed })),
  allowedSideEffects: task.executionPolicy?.allowedSideEffects ?? [],
  expectedOutputs: task.executionPolicy?.expectedOutputs ?? [],
});

/** Run value, then the task's, then `allowed` (specification 2, Launch rule 5), with where it came from. */
export function commitPolicyOf(request: LaunchRequest, task: Task): { value: CommitPolicy; source: string } {
  if (request.commitPolicy) return { value: request.commitPolicy, source: 'launch request' };
  if (task.executionPolicy?.commitPolicy) return { value: task.executionPolicy.commitPolicy, source: 'task' };
  return { value: 'allowed', source: 'default' };
}

/** The branch a run of the task works on, and the one it begins from. */
export const gitTargetOf = ({ id, git }: Task, repository: Repository): { branch: string; baseBranch: string } => ({
  branch: git?.branch ?? `board/${id}`,
  baseBranch: git?.baseBranch ?? repository.defaultBranch,
});

export interface ContractInput {
  attemptId: string;
  taskId: string;
  objective: Objective;
  phase: Phase;
  commitPolicy: { value: CommitPolicy; source: string };
  workspace: TaskEnvelope['workspace'];
  agent: AgentConfig;
  selection: { requestedAgent: string | null; reason: string };
  runtime: ProviderRuntimeManifest;
}

export interface LaunchContract {
  providerRuntimeManifest: ProviderRuntimeManifest;
  taskEnvelope: TaskEnvelope;
  runLaunchManifest: RunLaunchManifest;
}

/** Compiles the launch contract of one attempt. Pure and deterministic: the same input has the same digests. */
export function compileContract(input: ContractInput): LaunchContract {
  const taskEnvelope = compileEnvelope(input);
  return {
    providerRuntimeManifest: input.runtime,
    taskEnvelope,
    runLaunchManifest: compileManifest(input, taskEnvelope.digest),
  };
}

function compileEnvelope(input: ContractInput): TaskEnvelope {
  const { title, description, subtasks, allowedSideEffects, expectedOutputs } = input.objective;
  return withDigest({
    schemaVersion: 'task-envelope/v1' as const,
    taskId: input.taskId,
    attemptId: input.attemptId,
    objective: { title, description, subtasks },
    phase: input.phase,
    commitPolicy: input.commitPolicy.value,
    workspace: input.workspace,
    allowedSideEffects,
    expectedOutputs,
  });
}

function compileManifest(input: ContractInput, envelopeDigest: string): RunLaunchManifest {
  const { agent, runtime, selection } = input;
  const advisories = runtime.capabilities.filter((capability) => capability.state === 'advisory');
  return withDigest({
    schemaVersion: 'run-launch-manifest/v1' as const,
    taskId: input.taskId,
    attemptId: input.attemptId,
    providerRuntime: { digest: runtime.digest, provider: runtime.provider, probeRevision: runtime.probeRevision },
    taskEnvelope: { digest: envelopeDigest },
    routing: { requestedAgent: selection.requestedAgent, selectedAgent: agent.type, reason: selection.reason },
    runtime: {
      command: agent.command ?? null,
      args: agent.args,
      model: agent.model ?? null,
      environmentKeys: agent.environmentKeys,
    },
    instructions: [
      {
        id: 'objective',
        kind: 'task',
        digest: textDigest(input.objective.description),
        byteLength: Buffer.byteLength(input.objective.description),
      },
    ],
    phase: { phase: input.phase, evidence: 'legacy' as const },
    origins: [
      { field: 'agent', source: selection.reason },
      { field: 'commitPolicy', source: input.commitPolicy.source },
    ],
    enforcement: {
      enforceable: true,
      blockers: [],
      warnings: advisories.map(({ id, reason }) => ({ code: `advisory:${id}`, message: reason ?? id })),
    },
  });
}

/** The document the agent is given. */
export function renderTransport(envelope: TaskEnvelope): TaskEnvelopeTransport {
  return withDigest({
    schemaVersion: 'provider-task-envelope-transport/v1' as const,
    attemptId: envelope.attemptId,
    taskId: envelope.taskId,
    envelope,
    sections: [],
  });
}
