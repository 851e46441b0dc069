import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { WorktreeAdopt } from '../../../contracts/runs/worktrees/request';
import { refusal } from '../../../domain/refusal';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { remoteFor } from '../base';
import type { WorktreeHostDependencies } from '../dependencies';
import { isRefusal } from '../git-failure';
import type { WorktreeTarget } from '../plan';
import { fetchFailed } from '../refusals';
import { worktreeReplaced } from '../replaced';
import { newManifest, pathTaken, store } from './begin-create';
import { type Begin, type Begun, missingTarget } from './beginning';

/**
 * Adopts a worktree that a task names without a manifest (specification 1, Worktrees, rule 8). Git is only read; the manifest
 * is all that changes.
 */
export async function beginAdopt(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<WorktreeAdopt>,
  { target, record }: { target: WorktreeTarget | null; record: WorktreeRecord | undefined },
): Promise<Begun> {
  if (record && record.state !== 'removed' && !wasNeverMade(record)) {
    const remedy =
      record.state === 'failed' ? ` It has failed: remove it by DELETE /api/tasks/${taskId}/worktree first.` : '';
    return refusal('WORKTREE_EXISTS', `The task already has a worktree with a manifest.${remedy}`, {
      taskId,
      manifestId: record.manifestId,
    });
  }
  if (!target) {
    throw missingTarget();
  }
  const { repository, branch, baseBranch, legacyPath } = target;
  const refuse = (message: string, details: object = {}) =>
    refusal('WORKTREE_NOT_ADOPTABLE', message, { taskId, path: legacyPath, ...details });
  if (legacyPath === undefined || !isAbsolute(legacyPath)) {
    return refuse('The task names no worktree; git.worktreePath has to be its absolute path.');
  }
  try {
    await deps.git.configureRepository({
      repositoryPath: repository.path,
      allowFilters: repository.allowFilters ?? [],
    });
    const remote = await remoteFor(deps.git, repository, baseBranch);
    if (remote === undefined) {
      return refuse('Adoption compares with a remote; configure one for the repository.');
    }
    const evidence = await deps.git.adoptable({
      repositoryPath: repository.path,
      remote,
      branch: baseBranch,
      worktreePath: legacyPath,
      worktreeBranch: branch,
    });
    if (!evidence.adoptable || evidence.headSha === null) {
      const { base: _base, adoptable: _adoptable, ...checks } = evidence;
      return refuse('The worktree cannot be adopted as it is; `checks` lists the failures.', { checks });
    }
    const { sha, fetchedAt, remoteUrlFingerprint } = evidence.base;
    const manifest = newManifest(deps, {
      taskId,
      target,
      resolved: {
        base: { branch: baseBranch, remote, sha, source: 'legacy-adopted', fetchedAt },
        remoteFingerprint: remoteUrlFingerprint,
      },
      path: evidence.path,
      leaseSeconds: request.leaseSeconds,
      at: operation.startedAt,
    });
    const { id: operationId, actor, startedAt: at } = operation;
    const entry = {
      at,
      operationId,
      kind: 'adopt' as const,
      actor,
      result: 'done' as const,
      headSha: evidence.headSha,
    };
    await store(
      deps,
      { ...manifest, state: 'ready', operation: null, history: [entry] },
      { former: record, identity: evidence.identity },
    );
    return { state: 'ready' };
  } catch (error) {
    const taken = pathTaken(error, taskId, legacyPath);
    if (taken) {
      return taken;
    }
    if (isRefusal(error, 'fetch-failed', 'unknown-remote')) {
      return fetchFailed(taskId, error.message);
    }
    if (isRefusal(error, 'not-a-repository', 'unknown-ref', 'mismatch', 'conflict', 'repository-diverted')) {
      return refuse(error.message);
    }
    throw error;
  }
}

/** Whether a create has failed before anything was made, as it does where the branch is checked out in the worktree to adopt. */
const wasNeverMade = ({ state, identity, recoverable, path }: WorktreeRecord): boolean =>
  state === 'failed' && !identity && recoverable?.code !== worktreeReplaced && !existsSync(path);
