import { createHash } from 'node:crypto';
import { listRefFiles, type Ref } from './refs/ref-files';
import type { GitRunner } from './run-git';
import { type DescribedSetting, describeSettings } from './settings/describe';
import { fromFiles } from './settings/from-files';
import { readStatus } from './status';
import type { ListedWorktree } from './worktrees/worktree-git';
import { listWorktrees } from './worktrees/worktree-list';
import { locateWorktree, type RecordedWorktree } from './worktrees/worktree-location';

/** The most references and worktrees that are listed one by one. */
const maxListed = 500;

/** The surroundings of a worktree in its repository: enough to detect a change, not to restore it. */
export interface RepositorySnapshot {
  /** The primary checkout; `null` for a bare repository. */
  primary: { path: string; headSha: string; branch: string | null; files: string } | null;
  /** Branches and tags with what they name; `null` when there are too many to be listed. */
  refs: { name: string; sha: string }[] | null;
  /** Its configuration, hooks and attributes; absent where an earlier release did not record them. */
  settings?: DescribedSetting[];
  /** The other worktrees, without this one. */
  worktrees: { path: string; headSha: string | null; branch: string | null }[];
}

/**
 * Describes what is around the worktree at this path; nothing is written, and no file outside `.git` is read whole.
 *
 * @param request.worktrees those of the repository, where they have just been listed
 */
export async function snapshotRepository(
  git: GitRunner,
  { worktrees, ...recorded }: RecordedWorktree & { worktrees?: readonly ListedWorktree[] },
): Promise<RepositorySnapshot> {
  const location = locateWorktree(git, recorded);
  const { path: worktreePath } = location;
  const [[first, ...others], refs, settings] = await Promise.all([
    worktrees ?? listWorktrees(git, worktreePath),
    listRefs(git, worktreePath),
    describeSettings((text) => git.repositories.parse(text), location),
  ]);
  const isOther = ({ path }: { path: string }) => path !== worktreePath;
  return {
    primary: first?.headSha && isOther(first) ? await describePrimary(git, first.path) : null,
    refs,
    settings,
    worktrees: others
      .filter(isOther)
      .slice(0, maxListed)
      .map(({ path, headSha, branch }) => ({ path, headSha, branch })),
  };
}

async function describePrimary(git: GitRunner, path: string): Promise<RepositorySnapshot['primary']> {
  const { headSha, branch, entries } = await readStatus(git, path);
  const files = createHash('sha256').update(JSON.stringify(entries)).digest('hex');
  return { path, headSha, branch, files };
}

async function listRefs(git: GitRunner, cwd: string): Promise<RepositorySnapshot['refs']> {
  const refs = await listedRefs(git, cwd);
  return refs.length > maxListed ? null : refs;
}

async function listedRefs(git: GitRunner, cwd: string): Promise<Ref[]> {
  const read = await fromFiles(git, cwd, ({ commonDir }) => listRefFiles(commonDir, ['refs/heads', 'refs/tags']));
  if (read) {
    return read;
  }
  const format = '--format=%(refname) %(objectname)';
  const { stdout } = await git(['for-each-ref', format, `--count=${maxListed + 1}`, 'refs/heads', 'refs/tags'], {
    cwd,
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [name = '', sha = ''] = line.split(' ');
    return { name, sha };
  });
}
