import { execFile } from 'node:child_process';
import { chmod, chown, lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { AgentUser } from './agent-user';

const run = promisify(execFile);

/** Of a worktree with many files; it is waited for. */
const limits = { timeout: 600_000, maxBuffer: 1_048_576 };

/** The files of a run that are handed to the agents' user while its agent runs, and taken back after it. */
export interface AgentLocation {
  worktreePath: string;
  /** The worktree's administrative directory, as it was recorded before the agent ran. */
  gitDir: string;
}

/** Gives agents of another user what they work on, and nothing else of the data directory. */
export interface AgentAccess {
  give(location: AgentLocation): Promise<void>;
  /** To be called when nothing of the agent runs any more, and before anything of ours works there. */
  take(location: AgentLocation): Promise<void>;
}

/**
 * @param dataDir its directories on the way to a worktree may be passed through by the agents' group, and not be read
 */
export function createAgentAccess(user: AgentUser, dataDir: string): AgentAccess {
  return {
    async give({ worktreePath, gitDir }) {
      await letThrough(user, dataDir, dirname(worktreePath));
      // The worktree comes last: no process can be in it while its owner changes.
      await own(gitDir, user.uid, user.gid);
      await own(worktreePath, user.uid, user.gid);
    },
    async take({ worktreePath, gitDir }) {
      const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
      for (const path of [gitDir, worktreePath]) {
        if (!(await isDirectory(path))) {
          continue;
        }
        await own(path, uid, gid);
        await run('chmod', ['-R', 'go-w', '--', path], limits);
      }
      // Git follows a link that replaces one of its own files; it never makes one there.
      if (await isDirectory(gitDir)) {
        await run('find', [gitDir, '-type', 'l', '-delete'], limits);
      }
    },
  };
}

/** Lets the agents' group pass through the directories from the data directory to another one within it. */
export async function letThrough({ gid }: AgentUser, dataDir: string, directory: string): Promise<void> {
  const [top, target] = await Promise.all([realpath(dataDir), realpath(directory)]);
  const below = relative(top, target);
  if (below.startsWith('..') || isAbsolute(below)) {
    return;
  }
  const steps = below === '' ? [] : below.split('/');
  let path = top;
  for (const step of ['', ...steps]) {
    path = join(path, step);
    await chown(path, -1, gid);
    await chmod(path, 0o710);
  }
}

/** By descriptors and without following links: chown of coreutils is made for trees that others can change. */
const own = async (path: string, uid: number, gid: number): Promise<void> => {
  await run('chown', ['-R', '-h', '-P', '--', `${uid}:${gid}`, path], limits);
};

const isDirectory = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
