import type { ForgeKind } from '../../contracts/integrations/forge';
import type { Refusal } from '../../contracts/refusal';
import { gitUrlOf } from '../../domain/forges/forge-address';
import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { Git } from '../../providers/git/git';
import type { PullRequestStore } from '../../stores/integrations/pull-request-store';
import type { WorktreeRecord, WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import type { RepositoryForge, RepositoryForges } from '../shared/repository-forges';
import { gitFailure } from '../worktree/git-failure';
import { noWorktree } from '../worktree/refusals';
import { changeRecord, currentRecord, type OperationRef, type RecordWithOperation } from './record';

export interface PushDependencies {
  pullRequests: PullRequestStore;
  worktrees: Pick<WorktreeStore, 'get'>;
  forges: Pick<RepositoryForges, 'open'>;
  git: Git;
}

/** The user names that forges take a token with. */
const userOf: Record<ForgeKind, string> = { github: 'x-access-token', gitlab: 'oauth2' };

const headerOf = ({ connection: { kind }, token }: RepositoryForge): string =>
  `Authorization: Basic ${Buffer.from(`${userOf[kind]}:${token}`).toString('base64')}`;

/** Git's part of a pull request, on the host that has the worktree. */
export function createPushActivities({ pullRequests, worktrees, forges, git }: PushDependencies) {
  return {
    /** Pushes the branch of the task as it is now. What is about to be pushed is recorded before, and found there again. */
    async pushPullRequest(ref: OperationRef): Promise<{ refused: Refusal | null }> {
      const record = await currentRecord(pullRequests, ref);
      const worktree = await worktrees.get(ref.taskId);
      if (!worktree) {
        return { refused: noWorktree(ref.taskId) };
      }
      const opened = await forges.open(worktree.repository);
      if ('status' in opened) {
        return { refused: opened };
      }
      try {
        return { refused: await withHeartbeat(() => push(record, worktree, opened)) };
      } catch (error) {
        throw gitFailure(error);
      }
    },
  };

  async function push(
    read: RecordWithOperation,
    { _id: taskId, repositoryPath, branch, base }: WorktreeRecord,
    opened: RepositoryForge,
  ): Promise<Refusal | null> {
    const sha = await git.branchHead({ repositoryPath, branch });
    if (sha === undefined || (await git.isAncestor({ repositoryPath, ancestor: sha, descendant: base.sha }))) {
      return nothingToPush(taskId, { branch, base: base.branch, sha });
    }
    const { pushed, pushing } = read;
    const ours = [pushed, pushing].flatMap((one) => (one?.branch === branch ? [one.sha] : []));
    const record = await changeRecord(pullRequests, read, { pushing: { branch, sha } });
    const remote = { url: gitUrlOf(opened.connection), header: headerOf(opened) };
    const result = await git.pushBranch({ repositoryPath, remote, branch, sha, ours });
    if ('refused' in result) {
      await changeRecord(pullRequests, record, { pushing });
      return refusedPush(taskId, branch, result);
    }
    await changeRecord(pullRequests, record, { pushed: { branch, sha }, pushing: null });
    return null;
  }
}

export type PushActivities = ReturnType<typeof createPushActivities>;

function nothingToPush(
  taskId: string,
  { branch, base, sha }: { branch: string; base: string; sha: string | undefined },
): Refusal {
  const call = `POST /api/agents/${taskId}/start`;
  const message = `There is nothing to propose: ${base} has every commit of ${branch}, and nothing is uncommitted. Work on the task first, with ${call} say.`;
  return refusal('PULL_REQUEST_NOTHING_TO_PUSH', message, { taskId, branch, base, call, ...compact({ headSha: sha }) });
}

function refusedPush(
  taskId: string,
  branch: string,
  { refused, message, at }: { refused: 'moved' | 'unauthorized' | 'declined'; message: string; at?: string },
): Refusal {
  if (refused === 'moved') {
    const advice = 'Take them into the worktree, delete the branch there, or set git.branch to another one.';
    return refusal(
      'PULL_REQUEST_BRANCH_MOVED',
      `The branch ${branch} at the forge has commits that were not pushed from here; nothing was overwritten. ${advice}`,
      { taskId, branch, ...compact({ at }), reason: message },
    );
  }
  const code = refused === 'unauthorized' ? 'FORGE_UNAUTHORIZED' : 'PULL_REQUEST_PUSH_REFUSED';
  return refusal(code, `The forge refused the push of ${branch}: ${message}`, { taskId, branch });
}
