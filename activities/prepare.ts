import { join } from 'node:path';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { AgentConfig } from '../contracts/agent-config';
import type { LaunchOutcome, LaunchRefusal, LaunchRequest } from '../contracts/launch';
import type { LaunchPreview, ProviderRuntimeManifest, TaskEnvelope } from '../contracts/run-contract';
import type { Repository } from '../contracts/repository';
import type { Git } from '../providers/git/git';
import { GitError } from '../providers/git/git-error';
import { runtimeManifest, type ProbeResult } from '../runs/capabilities';
import { compileContract, type Objective } from '../runs/contract';
import { refusal } from '../runs/refusal';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { WorktreeRecord, WorktreeStore } from '../stores/worktree-store';
import { withHeartbeat } from './heartbeat';
import { takeLease } from './worktree/lease';
import { placeOf } from './worktree/record';

export interface PrepareDependencies {
  attempts: AttemptStore;
  worktrees: WorktreeStore;
  git: Git;
  /** Probes an agent on this host. */
  probe(agent: AgentConfig): Promise<ProbeResult>;
  /** Directory of this host's worktrees, one per task. */
  worktreeDir: string;
  now(): Date;
}

/** What a preview compiles: the caller's request as the readiness gate resolved it. */
export interface PreviewInput {
  taskId: string;
  request: LaunchRequest;
  objective: Objective;
  agent: AgentConfig;
  selection: { requestedAgent: string | null; reason: string };
  commitPolicy: { value: AttemptRecord['commitPolicy']; source: string };
  repository: Repository | null;
  git: AttemptRecord['git'];
}

/** Stands in for an attempt in a preview, which has none; it is left out of the answer. */
const previewAttemptId = 'attempt_00000000';

export function createPrepareActivities(deps: PrepareDependencies) {
  return {
    /**
     * Takes the lease of the worktree, captures its baseline, compiles the launch contract and stores it: after this,
     * and not before, the run may be dispatched. Done already, it answers what stands. Refused with `WORKTREE_MISSING` or
     * `WORKTREE_BUSY`, it can be asked again when the worktree is there.
     */
    async prepare({ attemptId }: { attemptId: string }): Promise<LaunchOutcome> {
      const record = await deps.attempts.get(attemptId);
      if (!record) throw ApplicationFailure.nonRetryable(`No attempt ${attemptId}.`, 'ATTEMPT_MISSING');
      if (record.launch?.status === 'running') return record.launch;
      const runtime = await probed(record.agentConfig);
      if ('status' in runtime) return runtime;
      const workspace = await withHeartbeat(() => workspaceOf(record));
      if ('status' in workspace) return workspace;

      const contract = compileContract({
        attemptId,
        taskId: record.taskId,
        objective: record.objective,
        phase: record.phase,
        commitPolicy: { value: record.commitPolicy, source: record.commitPolicySource },
        workspace: workspace.envelope,
        agent: record.agentConfig,
        selection: record.selection,
        runtime,
      });
      const launch: LaunchOutcome = {
        taskId: record.taskId,
        attemptId,
        agent: record.agent,
        provider: record.provider,
        status: 'running',
        startedAt: deps.now().toISOString(),
        providerRuntimeManifestDigest: runtime.digest,
        runLaunchManifestDigest: contract.runLaunchManifest.digest,
      };
      const stored = await deps.attempts.prepare(attemptId, {
        ...contract,
        hostId: record.hostId,
        launch,
        ...(workspace.baseline ? { baseline: workspace.baseline } : {}),
      });
      return stored?.launch ?? (await deps.attempts.get(attemptId))?.launch ?? launch;
    },

    /** The same compilation without an attempt and without touching git. */
    async preview(input: PreviewInput): Promise<LaunchPreview | LaunchRefusal> {
      const runtime = await probed(input.agent);
      if ('status' in runtime) return runtime;
      const workspace = await plannedWorkspace(input);
      if (workspace && 'status' in workspace) return workspace;
      const { runLaunchManifest } = compileContract({
        attemptId: previewAttemptId,
        taskId: input.taskId,
        objective: input.objective,
        phase: input.request.phase ?? 'implement',
        commitPolicy: input.commitPolicy,
        workspace,
        agent: input.agent,
        selection: input.selection,
        runtime,
      });
      const { digest: _digest, attemptId: _attemptId, ...manifest } = runLaunchManifest;
      return {
        manifest,
        dependencyCircuits: [],
        ...(input.request.parentAttemptId === undefined ? {} : { parentAttemptId: input.request.parentAttemptId }),
      };
    },
  };

  async function probed(agent: AgentConfig): Promise<ProviderRuntimeManifest | LaunchRefusal> {
    const probe = await deps.probe(agent);
    const options = {
      probedAt: deps.now().toISOString(),
      ...(agent.model === undefined ? {} : { model: agent.model }),
    };
    const manifest = runtimeManifest(agent.provider, probe, options);
    if (probe.ok) return manifest;
    return refusal(
      'AGENT_UNAVAILABLE',
      409,
      `Agent ${agent.type} cannot be started on this host: ${probe.diagnostics.join('; ')}`,
      {
        agent: agent.type,
        diagnostics: probe.diagnostics,
        remediation: 'Check the command of the agent with GET /api/config/agents.',
      },
    );
  }

  async function workspaceOf(record: AttemptRecord) {
    const { repository, git: target } = record;
    if (!repository || !target) return { envelope: null, baseline: undefined };
    try {
      const leased = await takeLease(deps, record.taskId, record._id);
      if (isRefusal(leased)) return leased;
      if (leased.repository !== repository.name || leased.branch !== target.branch || leased.hostId !== record.hostId) {
        return otherWorktree(leased, record);
      }
      // Somebody may have deleted its directory: the branch still has everything that was committed.
      const worktree = await deps.git.ensureWorktree(placeOf(leased));
      const baseline = await deps.git.captureBaseline({ worktreePath: worktree.path, attemptId: record._id });
      const { headSha, dirty, files } = baseline;
      const envelope: TaskEnvelope['workspace'] = {
        repository: repository.name,
        path: worktree.path,
        branch: worktree.branch,
        baseline: { headSha, dirty, files },
      };
      return { envelope, baseline };
    } catch (error) {
      return repositoryProblem(repository, error);
    }
  }

  async function plannedWorkspace({
    repository,
    git: target,
    taskId,
  }: PreviewInput): Promise<TaskEnvelope['workspace'] | LaunchRefusal> {
    if (!repository || !target) return null;
    try {
      const { sha } = await deps.git.resolveBase({
        repositoryPath: repository.path,
        branch: target.baseBranch,
        ...(repository.remote === undefined ? {} : { remote: repository.remote }),
      });
      const worktree = await deps.worktrees.get(taskId);
      return {
        repository: repository.name,
        path: worktree?.state === 'ready' ? worktree.path : join(deps.worktreeDir, taskId),
        branch: target.branch,
        baseline: { headSha: sha, dirty: false, files: [] },
      };
    } catch (error) {
      return repositoryProblem(repository, error);
    }
  }
}

export type PrepareActivities = ReturnType<typeof createPrepareActivities>;

const isRefusal = (leased: WorktreeRecord | LaunchRefusal): leased is LaunchRefusal => 'status' in leased;

/** The task has been changed since its worktree was made. */
const otherWorktree = ({ repository, branch, hostId, path }: WorktreeRecord, record: AttemptRecord): LaunchRefusal =>
  refusal(
    'WORKTREE_MISMATCH',
    409,
    'The worktree of the task is of another repository, branch or host; remove it first.',
    {
      taskId: record.taskId,
      worktree: { repository, branch, hostId, path },
      wanted: { repository: record.repository?.name, branch: record.git?.branch, hostId: record.hostId },
    },
  );

/** What no repetition helps against. */
const lasting: readonly GitError['code'][] = ['not-a-repository', 'unknown-ref', 'conflict'];
/** How often anything else is tried before the caller is told. */
const tries = 4;

/** The refusal that a lasting problem of the repository is; a passing one is thrown, so that it is tried again. */
function repositoryProblem(repository: Repository, error: unknown): LaunchRefusal {
  if (!(error instanceof GitError)) throw error;
  if (!lasting.includes(error.code) && Context.current().info.attempt < tries) throw error;
  return refusal('REPOSITORY_UNAVAILABLE', 409, `The repository ${repository.name} cannot be used: ${error.message}`, {
    repository: repository.name,
    reason: error.code,
    remediation: 'Check its path and branches with GET /api/config/repos.',
  });
}
