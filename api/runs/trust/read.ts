import type { TrustDecision, WorkspaceInventory, WorkspaceTrust } from '../../../contracts/runs/trust';
import type { Repository } from '../../../contracts/settings/repository';
import type { Task } from '../../../contracts/tasks/task';
import { gitTargetOf } from '../../../domain/contract';
import { trustStateOf } from '../../../domain/workspaces/trust';
import { assertFound } from '../../../platform/errors/app-error';
import { Page, type PagedBody, type PageRequest } from '../../../platform/lists/page';
import { refusalError } from '../../refusal-error';
import type { TrustContext } from './context';

interface Workspace {
  repository: Repository | undefined;
  inventory: WorkspaceInventory | null;
}

async function taskOf({ board }: TrustContext, taskId: string): Promise<Task> {
  const task = await board.get(taskId);
  assertFound(task, 'task', taskId);
  return task.task;
}

async function repositoryNamedBy({ repositories }: TrustContext, { git }: Task): Promise<Repository | undefined> {
  return git?.repo === undefined ? undefined : repositories.find(git.repo);
}

/** The repository a task works in; `undefined` when it names none that is configured. @throws AppError 404 */
export const repositoryOf = async (context: TrustContext, taskId: string): Promise<Repository | undefined> =>
  repositoryNamedBy(context, await taskOf(context, taskId));

/** What the workspace of the task brings now, as its host sees it. @throws AppError 404 */
export async function workspaceOf(context: TrustContext, taskId: string): Promise<Workspace> {
  const task = await taskOf(context, taskId);
  const repository = await repositoryNamedBy(context, task);
  if (!repository) {
    return { repository, inventory: null };
  }
  const worktree = await context.worktrees.get(taskId);
  const there = worktree && worktree.state !== 'removed' ? worktree.hostId : undefined;
  const inventory = await context.trustLauncher.look({
    taskId,
    repository,
    git: gitTargetOf(task, repository),
    hostId: there ?? repository.hostId ?? (await context.hosts.anyLive()) ?? null,
  });
  if (inventory && 'status' in inventory) {
    throw refusalError(inventory);
  }
  return { repository, inventory };
}

/** How far the workspace of a task is trusted, and how it came to that. */
export async function readTrust(
  context: TrustContext,
  taskId: string,
  part: PageRequest,
): Promise<PagedBody<WorkspaceTrust>> {
  const { repository, inventory } = await workspaceOf(context, taskId);
  const name = repository?.name ?? null;
  const decision = name !== null && inventory ? await context.trust.latest(name, inventory.digest) : undefined;
  const history = name === null ? new Page<TrustDecision>([], undefined) : await context.trust.history(name, part);
  return history.answer({
    schemaVersion: 'workspace-trust/v1' as const,
    taskId,
    repository: name,
    state: name === null ? 'not-required' : trustStateOf(inventory, decision),
    inventory,
    decision: decision ?? null,
    history: history.items,
  });
}
