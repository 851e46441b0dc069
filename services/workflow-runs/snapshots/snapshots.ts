import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runExclusive } from '../../../platform/operations/keyed-mutex';
import { type ChangedPath, changedPaths, contentsOf, type ShownContents } from './changes';
import { git, GitFailedError } from './git';
import { branch, commitSnapshot } from './snapshot';

/** Names of files that a stage has touched which its run stores. */
const maxTouched = 100;

export const snapshotsDirectory = ({ BOARD_DATA_DIR }: { BOARD_DATA_DIR: string }): string =>
  join(resolve(BOARD_DATA_DIR), 'workflow-runs', 'snapshots');

/** The repository and commit that the workspace of a run begins with. */
export interface WorkspaceBase {
  name: string;
  commit: string;
}

/** The commits of the workspaces of runs on this host, each in a repository of its run. */
export function createSnapshots({ directory, repositories, now }: SnapshotOptions) {
  const gitDirOf = (runId: string): string => join(directory, runId);

  async function open(runId: string): Promise<string> {
    const gitDir = gitDirOf(runId);
    const made = join(gitDir, 'made');
    if (!existsSync(made)) {
      await mkdir(gitDir, { recursive: true, mode: 0o700 });
      // Also one that was killed in the middle of it, which this completes.
      await git({ gitDir }, ['init', '--quiet', '--bare', '--template=', '--initial-branch=run']);
      await writeFile(made, '');
    }
    await removeLeftovers(gitDir);
    return gitDir;
  }

  function pathOf(name: string): string {
    const path = repositories.get(name);
    if (path === undefined) {
      throw new GitFailedError(`There is no repository ${JSON.stringify(name)}.`);
    }
    return path;
  }

  return {
    names: [...repositories.keys()],

    /** The commit that a branch, tag or id of a repository names. @throws GitFailedError when it names none */
    async resolveBase(name: string, base: string): Promise<string> {
      const found = await git({ gitDir: await gitDirIn(pathOf(name)) }, [
        ...['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`],
      ]).catch(() => {
        throw new GitFailedError(`Repository ${JSON.stringify(name)} has no commit ${JSON.stringify(base)}.`);
      });
      return String(found).trim();
    },

    /** Puts the files of a commit into the empty workspace of a run; nothing when that is done already. */
    prepare: (runId: string, workspace: string, { name, commit }: WorkspaceBase): Promise<void> =>
      runExclusive(`workflow run snapshots/${runId}`, async () => {
        const gitDir = await open(runId);
        const done = join(gitDir, 'prepared');
        if (existsSync(done)) {
          return;
        }
        const source = await gitDirIn(pathOf(name));
        // What it was resolved to may be at the tip of no branch any more.
        const upload = '--upload-pack=git -c uploadpack.allowAnySHA1InWant=true upload-pack';
        const from = pathToFileURL(source).href;
        await git({ gitDir }, ['fetch', '--quiet', '--no-tags', '--depth=1', upload, from, `+${commit}:${branch}`]);
        const index = join(gitDir, 'base-index');
        await git({ gitDir, index, workTree: workspace }, ['read-tree', '--reset', commit]);
        await git({ gitDir, index, workTree: workspace }, ['checkout-index', '--all', '--force', '--quiet']);
        await writeFile(done, '');
      }),

    /** Commits what is in the workspace of a run; returns the commit and the files that have changed since the one before. */
    commit: (runId: string, workspace: string, message: string): Promise<{ commit: string; touched: string[] }> =>
      runExclusive(`workflow run snapshots/${runId}`, async () => {
        const gitDir = await open(runId);
        const [before] = String(await git({ gitDir }, ['for-each-ref', '--format=%(objectname)', branch])).split('\n');
        const commit = await commitSnapshot({ gitDir, workspace }, { message, at: now() });
        const changes = commit === before ? [] : await changedPaths(gitDir, before || undefined, commit);
        return { commit, touched: changes.slice(0, maxTouched).map(({ path }) => path) };
      }),

    /** What has changed up to a commit since the base of the run. @throws GitFailedError when this host has it not, or not any more */
    changes: (runId: string, commit: string, base: WorkspaceBase | undefined): Promise<ChangedPath[]> =>
      changedPaths(gitDirOf(runId), base?.commit, commit),

    contents: (runId: string, id: string | undefined): Promise<ShownContents> => contentsOf(gitDirOf(runId), id),
  };
}

interface SnapshotOptions {
  directory: string;
  /** The paths of the repositories that runs may begin with, by name. */
  repositories: ReadonlyMap<string, string>;
  now: () => Date;
}

/** Locks that git leaves when it is killed, and refuses to continue with. */
const locks = ['HEAD', 'config', 'shallow', 'packed-refs', 'base-index', 'snapshot-index', branch];

/** Removes what git has left that was killed. One at a time works on the repository of a run: no lock is one's that works. */
async function removeLeftovers(gitDir: string): Promise<void> {
  await Promise.all(locks.map((name) => rm(join(gitDir, `${name}.lock`), { force: true })));
  const packs = join(gitDir, 'objects', 'pack');
  const unfinished = (await readdir(packs).catch(() => [])).filter((name) => name.startsWith('tmp_'));
  await Promise.all(unfinished.map((name) => rm(join(packs, name), { force: true })));
}

/** The repository in a directory: bare, or in its `.git`. */
async function gitDirIn(path: string): Promise<string> {
  const inner = join(path, '.git');
  return existsSync(join(inner, 'HEAD')) ? inner : path;
}

export type Snapshots = ReturnType<typeof createSnapshots>;
