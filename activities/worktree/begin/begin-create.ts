import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeCreate } from '../../../contracts/runs/worktrees/request';
import type { WorktreeManifest } from '../../../contracts/runs/worktrees/worktree';
import { refusal } from '../../../domain/refusal';
import { DuplicateKeyError } from '../../../stores/port/errors';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { hostProblem } from '../../shared/host-problem';
import { baseFor, remoteFor, type ResolvedBase } from '../base';
import type { WorktreeHostDependencies } from '../dependencies';
import { isRefusal } from '../git-failure';
import type { WorktreeTarget } from '../plan';
import { change, defaultLeaseSeconds, movedMeanwhile } from '../record';
import { type Begin, type Begun, missingTarget } from './beginning';

/** Resolves the exact base and writes the manifest of a new worktree. An existing one is returned. */
export async function beginCreate(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<WorktreeCreate>,
  { target, record }: { target: WorktreeTarget | null; record: WorktreeRecord | undefined },
): Promise<Begun> {
  if (record?.state === 'ready') {
    return { state: 'ready' };
  }
  if (!target) {
    throw missingTarget();
  }
  const { repository, branch, baseBranch } = target;
  try {
    await deps.git.configureRepository({
      repositoryPath: repository.path,
      allowFilters: repository.allowFilters ?? [],
    });
    const remote = await remoteFor(deps.git, repository, baseBranch);
    const where = { taskId, repositoryPath: repository.path, branch: baseBranch, remote };
    const resolved = await baseFor(deps.git, where, {
      request,
      acknowledged: { actor: operation.actor, at: operation.startedAt },
    });
    if ('status' in resolved) {
      return resolved;
    }
    // Closed to other users: none of their processes can occupy a worktree, or read what an agent writes.
    await mkdir(deps.worktreeDir, { recursive: true, mode: 0o700 });
    const fields = newManifest(deps, {
      taskId,
      target,
      resolved,
      path: join(await realpath(deps.worktreeDir), taskId),
      leaseSeconds: request.leaseSeconds,
      at: operation.startedAt,
    });
    const preparing = { ...fields, state: 'preparing' as const, operation: { ...operation, kind: 'create' as const } };
    await store(deps, preparing, { former: record });
    return { state: 'preparing' };
  } catch (error) {
    const unready = await hostProblem(deps);
    if (unready) {
      return unready;
    }
    if (isRefusal(error, 'not-a-repository', 'unknown-ref', 'repository-diverted')) {
      return refusal('REPOSITORY_UNAVAILABLE', `The repository ${repository.name} cannot be used: ${error.message}`, {
        repository: repository.name,
        branch,
        reason: error.code,
      });
    }
    throw error;
  }
}

export interface NewManifest {
  taskId: string;
  target: WorktreeTarget;
  resolved: ResolvedBase;
  path: string;
  leaseSeconds: number | undefined;
  at: string;
}

/** The manifest of a worktree that belongs to no attempt yet. */
export function newManifest(
  deps: Pick<WorktreeHostDependencies, 'hostId'>,
  { taskId, target, resolved, path, leaseSeconds = defaultLeaseSeconds, at }: NewManifest,
): Omit<WorktreeManifest, 'state' | 'operation'> {
  return {
    schemaVersion: 'worktree-manifest/v1',
    manifestId: `wt_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
    taskId,
    repository: target.repository.name,
    repositoryPath: target.repository.path,
    hostId: deps.hostId,
    path,
    branch: target.branch,
    ...resolved,
    lease: {
      leaseId: `lease_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
      ownerAttemptId: null,
      seconds: leaseSeconds,
      expiresAt: new Date(Date.parse(at) + leaseSeconds * 1000).toISOString(),
    },
    recoverable: null,
    history: [],
    createdAt: at,
    updatedAt: at,
    revision: 1,
  };
}

/** Writes a manifest where there is none, or over one that failed or was removed, whose history continues. */
export async function store(
  deps: WorktreeHostDependencies,
  manifest: WorktreeManifest,
  { former, identity = null }: { former: WorktreeRecord | undefined; identity?: WorktreeRecord['identity'] },
): Promise<void> {
  const allocation = `${manifest.hostId}:${manifest.path}`;
  if (!former) {
    if (!(await deps.worktrees.insert({ ...manifest, _id: manifest.taskId, allocation, identity }))) {
      throw movedMeanwhile(manifest.taskId);
    }
    return;
  }
  const { taskId: _taskId, revision: _revision, createdAt: _createdAt, history, ...fields } = manifest;
  await change(deps, former, { ...fields, allocation, identity, history: [...former.history, ...history] });
}

/** The refusal for a path that another task's manifest has. */
export const pathTaken = (error: unknown, taskId: string, path: string) =>
  error instanceof DuplicateKeyError
    ? refusal('WORKTREE_PATH_TAKEN', `The worktree ${path} belongs to another task.`, { taskId, path })
    : undefined;
