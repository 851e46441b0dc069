import type { PullRequest, PullRequestCreate } from '../../../contracts/integrations/pull-request';
import { issueSyncActor } from '../../../domain/issue-sync/scope';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { newRecordId, operationTime } from '../../../platform/operations/operation';
import type { PullRequestOperation, PullRequestRecord } from '../../../stores/integrations/pull-request-store';
import type { WorkflowContext } from '../../context';
import { refusalError } from '../../refusal-error';
import { manifestOf } from '../../runs/worktrees/read';

export type PullRequestsContext = Pick<WorkflowContext, 'board' | 'pullRequests' | 'pullRequestLauncher' | 'worktrees'>;

/** What is requested of the pull request of a task. */
export type PullRequestRequest = Pick<PullRequestOperation, 'kind' | 'actor'> & Partial<PullRequestCreate>;

/** The pull request of a task as it was found last. @throws AppError 404 */
export async function pullRequestOf(context: PullRequestsContext, taskId: string): Promise<PullRequest> {
  const record = await context.pullRequests.get(taskId);
  const presented = record && present(record);
  if (presented) {
    return presented;
  }
  assertFound(await context.board.get(taskId), 'task', taskId);
  throw new AppError('PULL_REQUEST_NOT_FOUND', {
    status: 404,
    message: 'The task has no pull request; make one with POST /api/github/pr.',
    details: { taskId },
  });
}

/**
 * Does what is requested of the pull request of a task, or joins the same request.
 *
 * @throws AppError 404, 409 with the reason, 409 `PULL_REQUEST_BUSY` while another request is done, 503 `PULL_REQUEST_PENDING`
 */
export async function operateOnPullRequest(
  context: PullRequestsContext,
  taskId: string,
  { kind, actor, title, body, targetBranch, draft }: PullRequestRequest,
): Promise<PullRequest> {
  const { pullRequests, pullRequestLauncher } = context;
  // What cannot be done whatever a worker finds is refused without one.
  await (kind === 'publish' ? manifestOf(context, taskId) : pullRequestOf(context, taskId));
  const operation: PullRequestOperation = {
    id: newRecordId('pr', 16),
    kind,
    actor,
    at: operationTime().toISOString(),
    begun: false,
    ...compact({ title, body, targetBranch, draft }),
  };
  let current = await pullRequests.request(taskId, operation);
  for (let attempt = 0; attempt < maxJoined && isOfSync(current); attempt += 1) {
    await pullRequestLauncher.run(taskId, current);
    current = await pullRequests.request(taskId, operation);
  }
  if (!isSameRequest(current, operation)) {
    if (await pullRequestLauncher.isRunning(taskId)) {
      throw busy(taskId, current);
    }
    current = await pullRequests.request(taskId, operation, () => true);
  }
  const refused = await pullRequestLauncher.run(taskId, current);
  if (refused) {
    throw refusalError(refused);
  }
  return pullRequestOf(context, taskId);
}

/** How often a refresh of the synchronisation is waited for: there is none twice in a row. */
const maxJoined = 3;

/** Whether the synchronisation reads the pull request: a request of a person is done after that, and not refused. */
const isOfSync = ({ kind, actor }: PullRequestOperation): boolean => kind === 'refresh' && actor === issueSyncActor;

const isSameRequest = (one: PullRequestOperation, other: PullRequestOperation): boolean =>
  one.kind === other.kind &&
  one.actor === other.actor &&
  (['title', 'body', 'targetBranch', 'draft'] as const).every((field) => one[field] === other[field]);

const busy = (taskId: string, { kind, actor, at }: PullRequestOperation): AppError =>
  conflict(
    `Another request for the pull request of this task is being done: ${kind}, of ${actor}. Repeat yours when it has ended.`,
    { taskId, kind, actor, at },
    'PULL_REQUEST_BUSY',
  );

function present({
  _id: taskId,
  repo,
  forge,
  pull,
  pushed,
  refreshedAt,
  review,
}: PullRequestRecord): PullRequest | undefined {
  if (!pull || !forge || repo === null || refreshedAt === null) {
    return undefined;
  }
  const { kind, repository } = forge;
  const { updatedAt: _updatedAt, ...shown } = pull;
  const pushedSha = pushed?.sha ?? null;
  return {
    taskId,
    repo,
    kind,
    repository,
    ...shown,
    pushedSha,
    refreshedAt,
    ...compact({ review: review ?? undefined }),
  };
}
