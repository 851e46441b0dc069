import type { Refusal } from '../../contracts/refusal';
import type { WorktreeCreate } from '../../contracts/runs/worktrees/request';
import type { WorktreeManifest } from '../../contracts/runs/worktrees/worktree';
import type { Repository } from '../../contracts/settings/repository';
import { compact } from '../../platform/json/compact';
import type { WorktreeGit } from '../../providers/git/worktrees/worktree-git';
import { isRefusal } from './git-failure';
import { fetchFailed } from './refusals';

type Base = WorktreeManifest['base'];

/** A base with the fingerprint of the remote it is of. */
export interface ResolvedBase {
  base: Base;
  remoteFingerprint: string | null;
}

/** The remote that a base branch is fetched from: the configured one, else the branch's own; `undefined` when it has none. */
export async function remoteFor(
  git: Pick<WorktreeGit, 'defaultRemote'>,
  { path: repositoryPath, remote }: Pick<Repository, 'path' | 'remote'>,
  branch: string,
): Promise<string | undefined> {
  if (remote === undefined) {
    return git.defaultRemote({ repositoryPath, branch });
  }
  return remote ?? undefined;
}

interface Where {
  taskId: string;
  repositoryPath: string;
  branch: string;
  remote: string | undefined;
}

/** Fetches the base and resolves its exact commit; without a remote, the local branch. */
export async function freshBase(
  git: WorktreeGit,
  { taskId, repositoryPath, branch, remote }: Where,
): Promise<ResolvedBase | Refusal> {
  if (remote === undefined) {
    const { sha } = await git.localBase({ repositoryPath, branch });
    return { base: { branch, remote: null, sha, source: 'local', fetchedAt: null }, remoteFingerprint: null };
  }
  try {
    const { sha, fetchedAt, remoteUrlFingerprint } = await git.fetchBase({ repositoryPath, remote, branch });
    return { base: { branch, remote, sha, source: 'remote', fetchedAt }, remoteFingerprint: remoteUrlFingerprint };
  } catch (error) {
    if (isRefusal(error, 'fetch-failed', 'unknown-remote')) {
      return fetchFailed(taskId, error.message);
    }
    throw error;
  }
}

/** The base for a new worktree: fresh, or as it was last fetched when the caller has accepted that. */
export async function baseFor(
  git: WorktreeGit,
  where: Where,
  { request, acknowledged }: { request: WorktreeCreate; acknowledged: { actor: string; at: string } },
): Promise<ResolvedBase | Refusal> {
  const { allowStaleBase, staleBaseAcknowledgement } = request;
  const fresh = await freshBase(git, where);
  if (!('status' in fresh) || !allowStaleBase || !staleBaseAcknowledgement) {
    return fresh;
  }
  const { repositoryPath, branch, remote } = where;
  const { sha } = await git.localBase({ repositoryPath, branch, ...compact({ remote }) });
  return {
    base: {
      branch,
      remote: remote ?? null,
      sha,
      source: 'stale-local',
      fetchedAt: null,
      acknowledgement: { ...staleBaseAcknowledgement, ...acknowledged },
    },
    remoteFingerprint: remote === undefined ? null : await git.remoteFingerprint({ repositoryPath, remote }),
  };
}
