import { lstatSync, readdirSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withScratchDirectory } from '../../../platform/processes/scratch';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { ensureFile } from '../settings/private-directory';

/** The directories that git divides loose objects among. */
const fanOut = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, '0'));

/** The most files of a repository's objects that are looked at. */
const maxObjects = 2_000_000;

/** Git on a repository whose data an agent may have prepared. */
export interface ReadingView {
  /** Compares and reads objects; it knows no worktree, no references and no attributes. */
  objects: GitRunner;
  /** Reads a worktree: what it writes is removed with the view. */
  worktree: GitRunner;
}

/**
 * Runs `work` with a view of a repository that has nothing but its objects. Git reads further objects where
 * `objects/info/alternates` points, takes parents from grafts and commit graphs, and shows files by `info/attributes`: all of
 * these an agent can write, so that none of them is in the view. What is written meanwhile goes to a directory of its own.
 *
 * @param commonDir the repository's own directory
 * @throws GitError `repository-diverted` when a link among the objects leads elsewhere; nothing that was read is returned then
 */
export async function withReadingView<T>(
  git: GitRunner,
  commonDir: string,
  work: (view: ReadingView) => Promise<T>,
): Promise<T> {
  refuseDivertedObjects(commonDir);
  const view = await makeView(git, commonDir);
  return withScratchDirectory('diff', async (scratch) => {
    const objects = join(scratch, 'objects');
    await mkdir(join(objects, 'info'), { recursive: true });
    await writeFile(join(objects, 'info', 'alternates'), `${join(view, 'objects')}\n`);
    const variables = { GIT_OBJECT_DIRECTORY: objects, GIT_NO_LAZY_FETCH: '1' };
    const isolated = {
      ...variables,
      GIT_DIR: view,
      GIT_COMMON_DIR: view,
      GIT_INDEX_FILE: join(scratch, 'no-index'),
      GIT_ATTR_NOSYSTEM: '1',
    };
    const result = await work({
      objects: variant(git, {
        cwd: commonDir,
        env: isolated,
        config: ['core.bare=true', 'core.attributesFile=/dev/null'],
      }),
      worktree: variant(git, { env: variables }),
    });
    refuseDivertedObjects(commonDir);
    return result;
  });
}

/** How long one command of a read may take, in milliseconds: a caller waits for it. */
const commandTimeoutMs = 10_000;

/** The same git with other variables; in another directory where one is named. */
function variant(
  git: GitRunner,
  { cwd, env, config = [] }: { cwd?: string; env: Record<string, string>; config?: readonly string[] },
): GitRunner {
  const run: (...call: Parameters<GitRunner>) => ReturnType<GitRunner> = (args, command) =>
    git(args, {
      timeoutMs: commandTimeoutMs,
      ...command,
      cwd: cwd ?? command.cwd,
      env: { ...env, ...command.env },
      config: [...config, ...(command.config ?? [])],
    });
  const { lockWaitMs, log, repositories, assertHeld, verify } = git;
  return Object.assign(run, { lockWaitMs, log, repositories, assertHeld, verify });
}

/** Makes the view of a repository beside the directory that git takes for its own; making it again changes nothing. */
async function makeView(git: GitRunner, commonDir: string): Promise<string> {
  const { GIT_COMMON_DIR: own = '' } = await git.repositories.environment(commonDir);
  const view = join(own, 'view');
  await mkdir(join(view, 'objects', 'info'), { recursive: true, mode: 0o700 });
  await mkdir(join(view, 'refs'), { recursive: true, mode: 0o700 });
  await ensureFile(join(view, 'HEAD'), 'ref: refs/heads/none\n');
  const config = await readFile(join(own, 'config'), 'utf8');
  // There are no references in the view, of whatever kind.
  await ensureFile(join(view, 'config'), config.replace(/^\trefstorage = .*\n/gim, ''));
  const alternates = await git.repositories.alternatesOf(commonDir);
  await ensureFile(join(view, 'objects', 'info', 'alternates'), alternates.map((path) => `${path}\n`).join(''));
  for (const name of ['pack', ...fanOut]) {
    link(join(commonDir, 'objects', name), join(view, 'objects', name));
  }
  link(join(commonDir, 'shallow'), join(view, 'shallow'));
  return view;
}

function link(target: string, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) {
    return;
  }
  try {
    symlinkSync(target, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
}

/** @throws GitError `repository-diverted` when a symbolic link is among the objects, which would lead to those of others */
function refuseDivertedObjects(commonDir: string): void {
  const pending = [join(commonDir, 'objects')];
  let seen = 0;
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of entriesOf(directory)) {
      seen += 1;
      if (seen > maxObjects) {
        throw new GitError(
          'conflict',
          `${commonDir} has more than ${maxObjects} objects outside of packs; run git gc.`,
        );
      }
      if (entry.isSymbolicLink()) {
        const path = join(directory, entry.name);
        throw new GitError(
          'repository-diverted',
          `${path} is a symbolic link, through which git would read elsewhere.`,
        );
      }
      if (entry.isDirectory()) {
        pending.push(join(directory, entry.name));
      }
    }
  }
}

function entriesOf(directory: string) {
  if (lstatSync(directory, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new GitError(
      'repository-diverted',
      `${directory} is a symbolic link, through which git would read elsewhere.`,
    );
  }
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Git removes directories that have become empty at any time.
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return [];
    }
    throw error;
  }
}
