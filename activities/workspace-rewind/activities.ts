import { Context } from '@temporalio/activity';
import type { Refusal } from '../../contracts/refusal';
import type { WorkspaceCheckpoint } from '../../contracts/runs/checkpoint';
import type { CommandResponse } from '../../contracts/runs/command';
import type { WorkspaceRewind } from '../../contracts/runs/rewind';
import { checkpointIdOf } from '../../domain/checkpoints/attribution';
import { ownersOf, planRewind } from '../../domain/checkpoints/rewind-plan';
import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Git } from '../../providers/git/git';
import { GitError } from '../../providers/git/git-error';
import type { RecordedWorktree } from '../../providers/git/worktrees/worktree-location';
import type { Stores } from '../../stores/open-stores';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { RunEventStore } from '../../stores/runs/event-store';
import type { RewindStore } from '../../stores/runs/workspaces/rewind-store';
import type { AuditStore } from '../../stores/system/audit-store';
import type { CommandInput } from '../../workflows/agent-run/messages';
import { rewindMessage, rewindPlanMessage } from '../../workflows/message-proofs';
import type { RewindCommitInput, RewindOutcome, RewindPlanInput } from '../../workflows/workspace-rewind/messages';
import { checkpointEvent } from '../agent-run/dispatch/checkpoints';
import { sourceOf } from '../shared/event-source';
import type { WorktreeFences } from '../worktree/fences';
import { decidedPaths, maxListed, maxNamed, plannedRewind } from './plan';

export interface RewindDependencies extends Pick<Stores, 'checkpoints' | 'rewinds'> {
  attempts: Pick<AttemptStore, 'get'>;
  events: Pick<RunEventStore, 'append'>;
  proofs: ProofVerifier;
  audit: Pick<AuditStore, 'record'>;
  git: Pick<Git, 'previewRewind' | 'diffTrees' | 'under'>;
  fences: Pick<WorktreeFences, 'share'>;
  now(): Date;
}

/** How many checkpoints are read at a time. */
const pageSize = 100;

type Commit = Omit<RewindCommitInput, 'hostId'>;

export function createRewindActivities(deps: RewindDependencies) {
  return {
    /** Plans a rewind from the present worktree and stores the plan, once: done already, that plan stands. */
    planRewind: ({ proof, ...input }: RewindPlanInput): Promise<RewindOutcome> =>
      unlessUnfinished(async () => {
        await deps.proofs.require(rewindPlanMessage(input), proof);
        const existing = await deps.rewinds.get(input.rewindId);
        if (existing) {
          return { status: 'planned' };
        }
        const record = await mustGet(input.attemptId);
        const [target, descendant] = await Promise.all([
          mustHave(input.targetCheckpointId),
          mustHave(input.descendantCheckpointId),
        ]);
        const { before, changes } = await deps.git.previewRewind({ ...placeOf(record), target: stateOf(target) });
        if (before.branch !== target.branch) {
          return refusal('REWIND_DIVERGED', 'The worktree is now on another branch.', {
            branch: before.branch,
            expected: target.branch,
          });
        }
        const changed = changes.map(({ path }) => path);
        const owners = await owned(record, { target, descendant, tree: before.tree });
        const resolutions = new Map(input.resolutions.map(({ path, decision }) => [path, decision]));
        const plan = decidedPaths(planRewind(changed, owners, resolutions));
        if ('status' in plan) {
          return plan;
        }
        if (!target.turn) {
          return refusal('REWIND_UNSUPPORTED', 'The turn of the checkpoint is unknown.', {});
        }
        const situation = { before, target: stateOf(target), turn: target.turn, paths: plan.paths };
        await deps.rewinds.add(plannedRewind(input, situation, deps.now().toISOString()));
        return { status: 'planned' };
      }),

    /** Checks that everything is exactly as it was planned; from then on the rewind is brought to its end. */
    beginRewind: ({ rewindId, attemptId, proof }: Commit): Promise<RewindOutcome> =>
      unlessUnfinished(async () => {
        await deps.proofs.require(rewindMessage({ rewindId, attemptId }), proof);
        const rewind = await mustFind(rewindId);
        if (rewind.state !== 'planned') {
          return { status: 'committed' };
        }
        const record = await mustGet(attemptId);
        const latest = await deps.checkpoints.latest(attemptId);
        const { before } = await deps.git.previewRewind({ ...placeOf(record), target: rewind.target });
        const parts = (['tree', 'indexTree', 'headSha', 'branch'] as const).filter(
          (part) => before[part] !== rewind.before[part],
        );
        if (parts.length > 0 || latest?.id !== rewind.descendantCheckpointId) {
          const changes = parts.includes('tree')
            ? await deps.git.diffTrees({ ...placeOf(record), before: rewind.before.tree, after: before.tree })
            : [];
          return refusal('REWIND_DIVERGED', 'The worktree has changed since the rewind was planned. Plan it again.', {
            parts,
            paths: changes.slice(0, maxNamed).map(({ path }) => path),
            latestCheckpointId: latest?.id ?? null,
          });
        }
        await deps.rewinds.begin(rewindId, deps.now().toISOString());
        return { status: 'committed' };
      }),

    /** Restores the worktree and stores the outcome as a checkpoint of a person. Resumes where it was interrupted. */
    applyRewind: ({ rewindId, attemptId }: Commit): Promise<RewindOutcome> =>
      withHeartbeat(async () => {
        const rewind = await mustFind(rewindId);
        if (rewind.state === 'committed') {
          return committed(rewind);
        }
        if (rewind.state === 'failed') {
          return failed(rewind.error);
        }
        if (rewind.state === 'planned') {
          return refusal('REWIND_NOT_BEGUN', 'The rewind has not started.', {});
        }
        const record = await mustGet(attemptId);
        // A run that was lost meanwhile had its worktree restored to its baseline: there is nothing to rewind.
        if (record.reclaimed || record.completion) {
          return abandon(rewindId, 'The run has ended in the meantime.');
        }
        const work = { id: rewindId, tries: Context.current().info.attempt };
        const fence = await deps.fences.share(record.taskId, attemptId, work);
        if (!fence) {
          throw new Error(
            `The worktree of ${attemptId} has another owner now, or another attempt at this rewind is running.`,
          );
        }
        const git = deps.git.under(fence);
        const decisions = new Map(rewind.paths.map(({ path, decision }) => [path, decision]));
        try {
          const { ref: keptRef, leftBehind } = await git.rewindWorkspace({
            ...placeOf(record),
            id: rewindId,
            before: rewind.before,
            target: rewind.target,
            decisions,
          });
          const checkpointId = await keep(git, record, rewind);
          const updatedAt = deps.now().toISOString();
          await deps.rewinds.end(rewindId, { state: 'committed', keptRef, leftBehind, checkpointId, updatedAt });
          return await committed(rewind);
        } catch (error) {
          if (!(error instanceof GitError) || error.code !== 'conflict') {
            throw error;
          }
          return abandon(rewindId, error.message);
        }
      }),
  };

  async function committed({ id, attemptId, createdBy, ...rewind }: WorkspaceRewind): Promise<RewindOutcome> {
    await deps.audit.record({
      action: 'run.rewind',
      actor: createdBy,
      resource: attemptId,
      details: { rewindId: id, checkpointId: rewind.targetCheckpointId, pathCount: rewind.pathCount },
      once: `run.rewind/${id}`,
    });
    return { status: 'committed' };
  }

  async function abandon(rewindId: string, error: string): Promise<Refusal> {
    await deps.rewinds.end(rewindId, { state: 'failed', error, updatedAt: deps.now().toISOString() });
    return failed(error);
  }

  /** Whose the paths are that changed between the checkpoints, or since. */
  async function owned(
    record: AttemptRecord,
    { target, descendant, tree }: { target: WorkspaceCheckpoint; descendant: WorkspaceCheckpoint; tree: string },
  ) {
    const between: WorkspaceCheckpoint[] = [];
    for (let after = target.number; after < descendant.number;) {
      const page = await deps.checkpoints.list(record._id, after, pageSize);
      between.push(...page.filter(({ number }) => number <= descendant.number));
      after = page.at(-1)?.number ?? descendant.number;
    }
    const since = await deps.git.diffTrees({ ...placeOf(record), before: descendant.tree, after: tree });
    return ownersOf(
      between,
      since.map(({ path }) => path),
    );
  }

  /** The checkpoint of the outcome of a rewind. @returns its id; that of the existing one when nothing is different */
  async function keep(
    git: Pick<Git, 'captureCheckpoint'>,
    record: AttemptRecord,
    rewind: WorkspaceRewind,
  ): Promise<string> {
    for (;;) {
      const latest = await deps.checkpoints.latest(record._id);
      if (!latest) {
        return rewind.targetCheckpointId;
      }
      const number = latest.number + 1;
      const captured = await git.captureCheckpoint({
        ...placeOf(record),
        attemptId: record._id,
        number,
        since: latest,
      });
      if (!captured) {
        return latest.id;
      }
      const { changes, ...captureFields } = captured;
      const checkpoint: WorkspaceCheckpoint = {
        schemaVersion: 'workspace-checkpoint/v1',
        id: checkpointIdOf(record._id, number),
        taskId: record.taskId,
        attemptId: record._id,
        number,
        parentId: latest.id,
        turn: rewind.turn,
        sequence: latest.sequence,
        ...captureFields,
        changes: changes
          .slice(0, maxListed)
          .map(({ path, status }) => ({ path, status, attribution: 'operator' as const, conflict: false })),
        truncated: changes.length > maxListed,
        createdAt: deps.now().toISOString(),
      };
      if (!(await deps.checkpoints.add(checkpoint))) {
        continue;
      }
      await deps.events.append(sourceOf(record), [checkpointEvent(checkpoint, changes.length)]);
      return checkpoint.id;
    }
  }

  async function mustGet(attemptId: string): Promise<AttemptRecord> {
    const record = await deps.attempts.get(attemptId);
    if (!record) {
      throw new Error(`The attempt ${attemptId} is missing from the stores.`);
    }
    return record;
  }

  async function mustHave(id: string): Promise<WorkspaceCheckpoint> {
    const checkpoint = await deps.checkpoints.get(id);
    if (!checkpoint) {
      throw new Error(`The checkpoint ${id} is missing from the stores.`);
    }
    return checkpoint;
  }

  async function mustFind(id: string): Promise<WorkspaceRewind> {
    const rewind = await deps.rewinds.get(id);
    if (!rewind) {
      throw new Error(`The rewind ${id} is missing from the stores.`);
    }
    return rewind;
  }
}

export type RewindActivities = ReturnType<typeof createRewindActivities>;

export interface RewindMessageDependencies {
  rewinds: RewindStore;
  command(command: CommandInput & { commandId: string }): Promise<CommandResponse>;
  now(): Date;
}

export function createRewindMessageActivities(deps: RewindMessageDependencies) {
  return {
    /** Notifies the agent, once, that its conversation continues from the earlier turn; the delivery is recorded. */
    async tellAgent({ rewindId, attemptId }: Commit): Promise<void> {
      const rewind = await deps.rewinds.get(rewindId);
      if (rewind?.state !== 'committed' || rewind.thread) {
        return;
      }
      const { delivered, reason } = await deps.command({
        attemptId,
        commandId: rewindId,
        type: 'steer',
        message: words(rewind),
        actor: rewind.createdBy,
        sentBy: rewind.createdBy,
      });
      // eslint-disable-next-line id-denylist -- a public field
      const thread = { told: delivered, ...compact({ reason }) };
      await deps.rewinds.recordDelivery(rewindId, thread, deps.now().toISOString());
    },
  };
}

export type RewindMessageActivities = ReturnType<typeof createRewindMessageActivities>;

const words = ({ turn, paths, pathCount }: WorkspaceRewind): string => {
  const retained = paths.filter(({ decision }) => decision !== 'accept').map(({ path }) => path);
  return (
    `An operator has taken the worktree back to what it was in turn ${turn.turnId}: ${pathCount - retained.length} paths ` +
    `changed back${retained.length === 0 ? '' : `, and these were kept as they are: ${retained.slice(0, maxNamed).join(', ')}`}. ` +
    'What you did after that turn no longer holds. Read files again before you rely on them.'
  );
};

/** A worktree in the middle of a merge was never planned for. */
const unlessUnfinished = (work: () => Promise<RewindOutcome>): Promise<RewindOutcome> =>
  withHeartbeat(async () => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof GitError && error.code === 'conflict') {
        return refusal('REWIND_DIVERGED', error.message, {});
      }
      throw error;
    }
  });

const placeOf = ({ _id, taskEnvelope, baseline }: AttemptRecord): RecordedWorktree & { gitDir: string } => {
  const worktreePath = taskEnvelope?.workspace?.path;
  if (worktreePath === undefined || !baseline) {
    throw new Error(`${_id} has no worktree.`);
  }
  return { worktreePath, gitDir: baseline.gitDir, ...compact({ identity: baseline.identity }) };
};

const stateOf = ({ tree, indexTree, headSha, branch }: WorkspaceCheckpoint) => ({ tree, indexTree, headSha, branch });

const failed = (error: string | undefined): Refusal =>
  refusal('REWIND_FAILED', error ?? 'The worktree could not be rewound.', {});
