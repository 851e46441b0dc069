import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { TaskEnvelope } from '../../../contracts/runs/launch/contract';
import type { WorkspaceInventory } from '../../../contracts/runs/trust';
import type { Repository } from '../../../contracts/settings/repository';
import { compact } from '../../../platform/json/compact';
import type { Git } from '../../../providers/git/git';
import { GitError } from '../../../providers/git/git-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorktreeRecord, WorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { remoteFor } from '../../worktree/base';

/** A task's location, as it is configured. */
export interface PlannedLocation {
  taskId: string;
  repository: Repository | null;
  git: AttemptRecord['git'];
}

export interface PlannedLocationDependencies {
  worktrees: Pick<WorktreeStore, 'get'>;
  git: Pick<Git, 'describeBaseline' | 'worktreeInventory' | 'commitInventory' | 'resolveBase' | 'defaultRemote'>;
  /** Directory of this host's worktrees, one per task. */
  worktreeDir: string;
}

type Seen = Awaited<ReturnType<Git['describeBaseline']>>;

/** Where a run would begin: in a worktree that is there, or in one that would be made at a commit. */
interface Beginning {
  repository: Repository;
  branch: string;
  path: string;
  identity?: WorktreeRecord['identity'];
  commit?: string;
}

/** Inspects the location where a run of a task would begin; git is only read. */
export function createPlannedLocations(deps: PlannedLocationDependencies) {
  /** The location as a start would find it, inspected once; `null` for a task without a repository. */
  function inspect(location: PlannedLocation) {
    const described = describe(location);
    // The caller of a part of it receives the failure.
    described.catch(() => undefined);
    return {
      workspace: async (): Promise<TaskEnvelope['workspace']> => {
        const planned = await described;
        return planned && workspaceOf(planned.at, planned.state);
      },
      inventory: async (): Promise<WorkspaceInventory | null> => {
        const planned = await described;
        return planned && inventoryOf(planned.at, planned.seen);
      },
    };
  }

  async function describe(location: PlannedLocation) {
    const at = await beginningOf(location);
    if (!at) {
      return null;
    }
    if (at.commit !== undefined) {
      return { at, state: { headSha: at.commit, dirty: false, files: [] } };
    }
    const seen = await deps.git.describeBaseline({ worktreePath: at.path, identity: at.identity ?? undefined });
    return { at, state: seen, seen };
  }

  /** What the worktree brings, or what one that is not there yet would begin with. */
  async function inventory(location: PlannedLocation): Promise<WorkspaceInventory | null> {
    const at = await beginningOf(location);
    return at && inventoryOf(at);
  }

  async function beginningOf({ repository, git: target, taskId }: PlannedLocation): Promise<Beginning | null> {
    if (!repository || !target) {
      return null;
    }
    const worktree = await deps.worktrees.get(taskId);
    const ready = worktree?.state === 'ready' ? worktree : undefined;
    const path = ready?.path ?? join(await realDirectory(deps.worktreeDir), taskId);
    const at = { repository, branch: target.branch, path, identity: ready?.identity };
    // Its directory may be gone: a start makes it again from its branch.
    if (ready && existsSync(path)) {
      return at;
    }
    const remote = ready ? undefined : await remoteFor(deps.git, repository, target.baseBranch);
    const base = { branch: target.baseBranch, ...compact({ remote }) };
    const from = ready ? { branch: ready.branch } : base;
    const repositoryPath = repository.path;
    // A start fetches what was never fetched; until then the local branch is the best estimate.
    const fetched = deps.git.resolveBase({ repositoryPath, ...from }).catch((error: unknown) => {
      const local = repository.remote === undefined && error instanceof GitError && error.code === 'unknown-ref';
      if (!local) {
        throw error;
      }
      return deps.git.resolveBase({ repositoryPath, branch: from.branch });
    });
    return { ...at, commit: (await fetched).sha };
  }

  function inventoryOf({ repository, path, identity, commit }: Beginning, seen?: Seen): Promise<WorkspaceInventory> {
    return commit === undefined
      ? deps.git.worktreeInventory({ worktreePath: path, identity: identity ?? undefined, ...compact({ seen }) })
      : deps.git.commitInventory({ repositoryPath: repository.path, commit });
  }

  return { inspect, inventory };
}

const workspaceOf = (
  { repository, branch, path }: Beginning,
  { headSha, dirty, files }: Pick<Seen, 'headSha' | 'dirty' | 'files'>,
): TaskEnvelope['workspace'] => ({
  repository: repository.name,
  branch,
  path,
  baseline: { headSha, dirty, files },
});

/** The path that a directory of this name has once it is made. */
async function realDirectory(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return dirname(path) === path ? path : join(await realDirectory(dirname(path)), basename(path));
  }
}
