import type { ForgePullRequest } from '../../contracts/integrations/forge';
import type { StoredPullRequest } from '../../contracts/integrations/pull-request';
import type { Refusal } from '../../contracts/refusal';
import type { Task } from '../../contracts/tasks/task';
import { apiUrlOf } from '../../domain/forges/forge-address';
import { refusal } from '../../domain/refusal';
import { isBaseBranch } from '../../domain/workspaces/merge-branches';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { isSameJson } from '../../platform/json/same';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import { askRules } from '../../stores/governance/require-allowed';
import type { PullRequestRecord } from '../../stores/integrations/pull-request-store';
import type { WorktreeRecord, WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import type { LineCommentStore } from '../../stores/tasks/line-comment-store';
import { type AwaitedMergeDependencies, settleAwaitedMerge } from '../review-acceptance/awaited-merge';
import { callForge } from '../shared/forge-refusals';
import type { RepositoryForge, RepositoryForges } from '../shared/repository-forges';
import { noWorktree } from '../worktree/refusals';
import { noteOf } from './note';
import { openAtForge } from './open-at-forge';
import { importReviewComments, readAtForge } from './read-at-forge';
import { changeRecord, currentRecord, type OperationRef, type RecordWithOperation } from './record';

export interface PullRequestDependencies extends AwaitedMergeDependencies {
  worktrees: Pick<WorktreeStore, 'get'>;
  rules: DecisionPoint;
  forges: Pick<RepositoryForges, 'open'>;
  lineComments: Pick<LineCommentStore, 'add' | 'count'>;
}

/** `hostId` has the worktree to push from; `null` where nothing is pushed. `over`: it has ended, or is refused at once. */
export type BegunPullRequest =
  | { over: false; hostId: string | null; /** Whether the forge is only read. */ reads: boolean }
  | { over: true; refused: Refusal | null };

export function createPullRequestActivities(deps: PullRequestDependencies) {
  const { board, pullRequests, worktrees, rules, forges, audit, log, now } = deps;

  return {
    /** Whether an operation can be done, before anything is; from then on no other request replaces it. */
    async beginPullRequest({ taskId, operationId }: OperationRef): Promise<BegunPullRequest> {
      const record = await pullRequests.get(taskId);
      if (record?.last?.id === operationId) {
        return { over: true, refused: record.last.refused };
      }
      const read = await currentRecord(pullRequests, { taskId, operationId });
      const found = await placeOf(taskId, read);
      const place = 'status' in found ? found : ((await ruledOut(taskId, read, found.forge)) ?? found);
      if ('status' in place) {
        const last = { id: operationId, refused: place };
        await changeRecord(pullRequests, read, { operation: null, last, ...polled(read), ...unread(read, place) });
        return { over: true, refused: place };
      }
      const { repo, hostId, forge } = place;
      await changeRecord(pullRequests, read, {
        repo,
        forge,
        operation: { ...read.operation, begun: true },
        ...polled(read),
        // A number is one of the repository that it was given by.
        ...(isSameJson(read.forge, forge) ? {} : { pull: null, review: null, pushed: null, pushing: null }),
      });
      return { over: false, hostId, reads: read.operation.kind === 'refresh' };
    },

    /** Creates the pull request, updates the one there is, or opens it again; and stores the state that the forge reports. */
    async openPullRequest(ref: OperationRef): Promise<{ refused: Refusal | null }> {
      const record = await currentRecord(pullRequests, ref);
      const [opened, worktree, found] = await Promise.all([
        forges.open(record.repo ?? ''),
        worktrees.get(ref.taskId),
        board.get(ref.taskId),
      ]);
      if ('status' in opened) {
        return { refused: opened };
      }
      const branches = {
        task: found?.task,
        headBranch: record.pushed?.branch ?? worktree?.branch ?? '',
        baseBranch: worktree?.base.branch ?? '',
      };
      const result = await withHeartbeat(() => openAtForge(opened.forge, record, branches));
      if ('status' in result) {
        return { refused: result };
      }
      const isSame = result.pull.number === record.pull?.number;
      await changeRecord(pullRequests, record, {
        pull: stored(result.pull),
        refreshedAt: now().toISOString(),
        unread: null,
        ...(isSame ? {} : { review: null }),
      });
      return { refused: null };
    },

    /** Stores the current state of the pull request that the forge reports, and makes comments of its reviewers comments of the task, once. */
    async refreshPullRequest(ref: OperationRef): Promise<{ refused: Refusal | null }> {
      const record = await currentRecord(pullRequests, ref);
      const opened = await forges.open(record.repo ?? '');
      if ('status' in opened) {
        return { refused: opened };
      }
      const number = record.pull?.number ?? 0;
      const called = await withHeartbeat(() => callForge(() => readAtForge(opened.forge, number)));
      if ('status' in called) {
        return { refused: called };
      }
      const { pull, checks, reviews, comments } = called.value;
      const { imported, skipped } = await importReviewComments(deps.lineComments, record, {
        comments,
        kind: opened.connection.kind,
      });
      await changeRecord(pullRequests, record, {
        pull: stored(pull),
        refreshedAt: now().toISOString(),
        review: { checks, reviews, reviewComments: { imported: imported.length, skipped } },
        imported,
      });
      return { refused: null };
    },

    /**
     * Writes the number and the address on the task, that it was merged as a comment, once, and what its state makes of an
     * accepted review that waits for it. A task that is gone has a pull request all the same.
     */
    async notePullRequest(ref: OperationRef): Promise<void> {
      const { pull, operation } = await currentRecord(pullRequests, ref);
      const note = (task: Task): Partial<Task> => (pull ? noteOf(task, pull, now()) : {});
      try {
        await board.update(ref.taskId, note, { actor: operation.actor });
      } catch (error) {
        if (!(error instanceof AppError) || error.status === 503) {
          throw error;
        }
        log.warn({ taskId: ref.taskId, code: error.code }, `pull request not written on the task: ${error.message}`);
      }
      await settleAwaitedMerge(deps, ref.taskId);
    },

    /** Ends an operation: it is in the audit log unless it only read, and the next one may begin. */
    async settlePullRequest({ refused, ...ref }: OperationRef & { refused: Refusal | null }): Promise<void> {
      const read = await pullRequests.get(ref.taskId);
      // An earlier try has settled it, or another request has replaced it.
      if (read?.operation?.id !== ref.operationId) {
        return;
      }
      const record = await currentRecord(pullRequests, ref);
      const { operation, pull, pushed, repo } = record;
      if (operation.kind === 'refresh') {
        const last = { id: ref.operationId, refused };
        await changeRecord(pullRequests, record, { operation: null, last, ...unread(record, refused) });
        return;
      }
      await audit.record({
        once: ref.operationId,
        action: `pull-request.${operation.kind}`,
        actor: operation.actor,
        resource: ref.taskId,
        details: refused
          ? { repo, refused: refused.code }
          : { repo, number: pull?.number, url: pull?.url, pushed: pushed?.sha },
      });
      await changeRecord(pullRequests, record, { operation: null, last: { id: ref.operationId, refused } });
    },
  };

  /** A refresh that begins now reads whatever the forge has announced until now. */
  function polled({ operation }: PullRequestRecord): Partial<PullRequestRecord> {
    return operation?.kind === 'refresh' ? { polledAt: now().toISOString(), staleAt: null } : {};
  }

  /** Why the rules refuse what is written to a forge; reading it needs no permission of theirs. */
  async function ruledOut(
    taskId: string,
    { operation: { id, kind, actor, title, body, targetBranch, draft } }: RecordWithOperation,
    { kind: forgeKind, baseUrl, repository }: NonNullable<PullRequestRecord['forge']>,
  ): Promise<Refusal | undefined> {
    if (kind === 'refresh') {
      return undefined;
    }
    const task = (await rules.hasPolicies()) ? (await board.get(taskId))?.task : undefined;
    const { refused } = await askRules(rules, {
      action: 'external-message',
      also: ['pull-request'],
      actor,
      taskId,
      project: task?.project,
      reaches: { host: new URL(baseUrl).host },
      subject: { kind, forge: forgeKind, repository, ...compact({ title, body, targetBranch, draft }) },
      change: id,
    });
    return refused;
  }

  /** Why a refresh could not read it, if it could not. */
  function unread({ operation }: PullRequestRecord, refused: Refusal | null): Partial<PullRequestRecord> {
    if (operation?.kind !== 'refresh') {
      return {};
    }
    return { unread: refused && { code: refused.code, message: refused.message, at: now().toISOString() } };
  }

  /** Where the pull request of a task is, or why it has none. */
  async function placeOf(
    taskId: string,
    { operation, pull, repo }: PullRequestRecord,
  ): Promise<{ repo: string; hostId: string | null; forge: NonNullable<PullRequestRecord['forge']> } | Refusal> {
    if (operation?.kind !== 'publish') {
      if (!pull || repo === null) {
        return noPullRequest(taskId);
      }
      const opened = await forges.open(repo);
      return 'status' in opened ? opened : { repo, hostId: null, forge: forgeOf(opened) };
    }
    if (!(await board.get(taskId))) {
      return refusal('NOT_FOUND', `No task has the id ${taskId}.`, { taskId });
    }
    const worktree = await worktrees.get(taskId);
    if (!worktree) {
      return noWorktree(taskId);
    }
    const opened = await forges.open(worktree.repository);
    if ('status' in opened) {
      return opened;
    }
    const targetBranch = operation.targetBranch ?? worktree.base.branch;
    return (
      onTarget(taskId, worktree, { opened, targetBranch }) ?? {
        repo: worktree.repository,
        hostId: worktree.hostId,
        forge: forgeOf(opened),
      }
    );
  }
}

export type PullRequestActivities = ReturnType<typeof createPullRequestActivities>;

const noPullRequest = (taskId: string): Refusal =>
  refusal('PULL_REQUEST_NOT_FOUND', 'The task has no pull request; make one with POST /api/github/pr.', { taskId });

const forgeOf = ({ connection }: RepositoryForge): NonNullable<PullRequestRecord['forge']> => ({
  kind: connection.kind,
  baseUrl: apiUrlOf(connection),
  repository: connection.repository,
});

const stored = ({ body: _body, ...pull }: ForgePullRequest): StoredPullRequest => pull;

/** A branch that others merge into is never pushed: its commits would be merged without a review. */
function onTarget(
  taskId: string,
  { branch }: WorktreeRecord,
  { opened: { repository }, targetBranch }: { opened: RepositoryForge; targetBranch: string },
): Refusal | undefined {
  if (!isBaseBranch(repository, { branch, baseBranch: targetBranch })) {
    return undefined;
  }
  const message = `${branch} is a branch that work in ${repository.name} is merged into: a pull request cannot come from it.`;
  return refusal('WORKTREE_BASE_BRANCH', message, { taskId, branch, targetBranch });
}
