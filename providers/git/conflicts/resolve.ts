import { realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ResolutionTarget } from '../../../contracts/runs/conflict';
import { withIndexCopy } from '../files/trees';
import { GitError } from '../git-error';
import { type GitRunner, gitText } from '../run-git';
import { clearStaleLocks } from '../worktrees/locks';
import {
  locateWorktree,
  type RecordedWorktree,
  verifyStill,
  type WorktreeLocation,
} from '../worktrees/worktree-location';
import { readConflict } from './read-conflicts';
import { indexEntry, linkMode, repositoryMode, unmergedAt, unmergedFiles, type UnmergedVersion } from './unmerged';

export interface DecideResolution extends RecordedWorktree {
  repositoryPath: string;
  path: string;
  resolution: 'ours' | 'theirs' | 'manual';
  hasText: boolean;
}

const refused = (path: string, why: string): GitError => new GitError('conflict', `${JSON.stringify(path)} ${why}.`);

/**
 * Decides what a resolution makes of a file; git is only read.
 *
 * @throws GitError `unknown-path` when it is not in conflict, `conflict` when it cannot be resolved that way
 */
export async function decideResolution(git: GitRunner, request: DecideResolution): Promise<ResolutionTarget> {
  const { path, resolution, hasText } = request;
  const location = locateWorktree(git, request);
  const file = unmergedAt(await unmergedFiles(git, location.path), path);
  const versions = [file.ours, file.theirs, file.base].filter((version) => version !== undefined);
  if (versions.some(({ mode }) => mode === repositoryMode)) {
    throw refused(path, 'is a repository of its own; resolve it in the worktree with git add');
  }
  if (resolution !== 'manual') {
    const version = file[resolution];
    return version ? { as: 'version', ...version } : { as: 'removed' };
  }
  if (!hasText) {
    return { as: 'worktree', object: await reviewed(git, request) };
  }
  const [mode = linkMode] = versions.map((version) => version.mode);
  if (mode === linkMode) {
    throw refused(path, 'is a symbolic link; take ours or theirs');
  }
  return { as: 'text', mode };
}

/** The object of a file in conflict that can be taken as it is in the worktree. @throws GitError `conflict` */
async function reviewed(git: GitRunner, { path, ...recorded }: DecideResolution): Promise<string> {
  const { versions, markers } = await readConflict(git, recorded, path);
  const { object } = versions.worktree ?? {};
  if (!versions.worktree) {
    throw refused(path, 'is no file in the worktree; take ours or theirs, or send its manualContent');
  }
  if (object === undefined || versions.worktree.text === 'too-large') {
    throw refused(path, 'is too large to be checked for conflicts; resolve it in the worktree with git add');
  }
  const [marker] = markers;
  if (marker) {
    throw refused(path, `still has the conflict of line ${marker.startLine}; edit it, or send its manualContent`);
  }
  return object;
}

export interface ResolveRequest extends RecordedWorktree {
  path: string;
  target: ResolutionTarget;
  /** The content of a `text`. */
  text?: string | undefined;
}

/**
 * Resolves a file in conflict, in the index and in the worktree. Can be repeated, also after it was killed halfway.
 *
 * @throws GitError `unknown-path` when it is not in conflict, `stale` when the file has changed since that was decided
 */
export async function resolveConflict(git: GitRunner, request: ResolveRequest): Promise<void> {
  const { path, target } = request;
  const location = locateWorktree(git, request);
  const { path: cwd } = location;
  await git.verify();
  await clearStaleLocks(location, null, git);
  const entry = await entryOf(git, location, request);
  const unmerged = (await unmergedFiles(git, cwd)).find((file) => file.path === path);
  if (unmerged) {
    const { object = '' } = unmerged.ours ?? unmerged.theirs ?? unmerged.base ?? {};
    const removal = `0 ${'0'.repeat(object.length)}\t${path}\0`;
    const addition = entry ? `${entry.mode} ${entry.object} 0\t${path}\0` : '';
    await git(['update-index', '-z', '--index-info'], { cwd, input: removal + addition });
  } else if ((await indexEntry(git, cwd, { path }))?.object !== entry?.object) {
    throw new GitError('unknown-path', `${JSON.stringify(path)} is not in conflict.`);
  }
  if (target.as === 'worktree') {
    return;
  }
  verifyStill(location);
  if (entry) {
    await git(['checkout-index', '--force', '--quiet', '-z', '--stdin'], { cwd, input: `${path}\0` });
  } else {
    removeFile(git, location, path);
  }
}

/** What the index is to have of the file; `undefined` for nothing. */
async function entryOf(
  git: GitRunner,
  location: WorktreeLocation,
  { path, target, text = '' }: ResolveRequest,
): Promise<UnmergedVersion | undefined> {
  const { path: cwd } = location;
  switch (target.as) {
    case 'removed':
      return undefined;
    case 'version':
      return { mode: target.mode, object: target.object };
    case 'text': {
      const command = ['hash-object', '-w', '--stdin', `--path=${path}`];
      return { mode: target.mode, object: await gitText(git, command, { cwd, input: text }) };
    }
    case 'worktree':
      return withIndexCopy(location, async (env) => {
        await git(['update-index', '-z', '--stdin'], { cwd, env, input: `${path}\0`, okCodes: [128] });
        const entry = await indexEntry(git, cwd, { path, env });
        if (entry?.object !== target.object) {
          throw new GitError('stale', `${JSON.stringify(path)} was changed meanwhile; resolve it again.`);
        }
        return entry;
      });
  }
}

/** Removes a file that lies behind no link; anything else than a file stays. */
function removeFile(git: GitRunner, { path: root }: WorktreeLocation, path: string): void {
  const file = join(root, path);
  try {
    if (realpathSync(dirname(file)) !== dirname(file)) {
      return;
    }
    git.assertHeld();
    rmSync(file, { force: true });
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ERR_FS_EISDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
  }
}

/** Asserts that every path of the worktree is resolved. @throws GitError `merge-conflict` */
export async function refuseUnresolved(git: GitRunner, { path: cwd }: Pick<WorktreeLocation, 'path'>): Promise<void> {
  const paths = (await unmergedFiles(git, cwd)).map((file) => file.path);
  if (paths.length > 0) {
    throw new GitError('merge-conflict', `${paths.length} files are in conflict still.`, paths.slice(0, 100));
  }
}
