import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LaunchFinding } from '../../contracts/runs/launch/manifest';
import { findCommand } from '../../platform/processes/find-command';
import { programRunner } from '../../platform/processes/programs/program-runner';

/** The oldest git that has all that is used here. */
export const oldestGit = '2.38';

const install = `Install git ${oldestGit} or newer on the host, on the PATH of the worker.`;

/**
 * What runs in worktrees lack on this host: git, a git that is new enough, a directory for worktrees.
 *
 * @param worktreeDir where worktrees are made; it need not be there yet
 */
export function createHostFindings(worktreeDir: string, environment: NodeJS.ProcessEnv = process.env) {
  const runProgram = programRunner();
  const versions = new Map<string, string>();

  return async (): Promise<LaunchFinding[]> => [...(await gitFindings()), ...(await directoryFindings(worktreeDir))];

  async function gitFindings(): Promise<LaunchFinding[]> {
    const found = findCommand('git', environment.PATH ?? '');
    if (!('path' in found)) {
      const message = 'The worker finds no git on its PATH.';
      return [
        {
          code: 'git-missing',
          message,
          program: 'git',
          searched: found.searched ?? [],
          remedy: install,
        },
      ];
    }
    const { path } = found;
    const version = await versionOf(path);
    if (version !== undefined && isOlder(version, oldestGit)) {
      const message = `git ${version} at ${path} is too old: ${oldestGit} is required.`;
      return [{ code: 'git-too-old', message, program: 'git', path, remedy: install }];
    }
    return [];
  }

  /** Asked once for each file: the version of a program that was not replaced stays. */
  async function versionOf(path: string): Promise<string | undefined> {
    const { mtimeMs, ino, size } = await stat(path);
    const key = `${path} ${ino} ${size} ${mtimeMs}`;
    const recorded = versions.get(key);
    if (recorded !== undefined) {
      return recorded;
    }
    const { exitCode, stdout } = await runProgram({
      file: path,
      args: ['--version'],
      cwd: '/',
      env: { PATH: environment.PATH ?? '' },
      input: '',
      timeoutMs: 10_000,
      maxOutputBytes: 10_000,
    });
    const version = exitCode === 0 ? /(\d+(?:\.\d+)+)/.exec(stdout)?.[1] : undefined;
    if (version !== undefined) {
      versions.set(key, version);
    }
    return version;
  }
}

/** Why no worktree can be made in a directory; it is made itself with the first one. */
async function directoryFindings(directory: string): Promise<LaunchFinding[]> {
  const { path, reason } = await nearest(directory);
  if (reason === undefined) {
    return [];
  }
  return [
    {
      code: 'worktree-root-not-writable',
      message: `No worktree can be made in ${directory}: ${path} ${reason}.`,
      path,
      remedy: `Make ${path} a directory that the user of the worker may write, or set BOARD_DATA_DIR to another one.`,
    },
  ];
}

/** The directory, or the nearest one above it that is there, and why nothing can be made in it. */
async function nearest(directory: string): Promise<{ path: string; reason?: string }> {
  try {
    const facts = await stat(directory);
    if (!facts.isDirectory()) {
      return { path: directory, reason: 'is not a directory' };
    }
    await access(directory, constants.W_OK | constants.X_OK);
    return { path: directory };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code === 'ENOENT' || code === 'ENOTDIR') && dirname(directory) !== directory) {
      return nearest(dirname(directory));
    }
    return { path: directory, reason: code === 'EROFS' ? 'is read-only' : 'is not writable for the worker' };
  }
}

/** Whether a version is older than another one, by its numbers. */
function isOlder(version: string, oldest: string): boolean {
  const numbers = version.split('.').map(Number);
  const [differing] = oldest
    .split('.')
    .map((part, at) => (numbers[at] ?? 0) - Number(part))
    .filter((difference) => difference !== 0);
  return (differing ?? 0) < 0;
}
