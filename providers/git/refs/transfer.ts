import { type ChildProcess, spawn } from 'node:child_process';
import { asOperator } from '../../../platform/processes/operator-umask';
import { configured, hardening, transferEnvironment } from '../git-environment';
import { GitError } from '../git-error';
import { verifyRepository, writesToRepository } from '../repository/verify-repository';
import type { GitRunner } from '../run-git';
import { valueOf } from '../settings/entries';

/** The most that is remembered of what a transfer prints, in characters. */
const outputLimit = 1_048_576;

export interface TransferResponse {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a git command that talks to a remote. @throws GitError `timeout` */
export type GitTransfer = (
  args: readonly string[],
  command: { cwd: string; config?: readonly string[]; env?: Record<string, string> },
) => Promise<TransferResponse>;

/** Settings of a repository that would make a transfer do more than it is asked to. */
const plainTransfers = [
  'push.followTags=false',
  'push.gpgSign=false',
  'push.recurseSubmodules=no',
  'fetch.recurseSubmodules=no',
  'fetch.writeCommitGraph=false',
  // For http, where git itself may wait for a silent server for ever.
  'http.lowSpeedLimit=1',
];

/** Git's messages for people: without progress, which a terminal overwrites. */
const withoutProgress = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .filter((line) => !/^(?:remote: )?[A-Z][a-z]+ (?:[a-z]+ )?(?:objects|deltas)?:? +\d+%/.test(line))
    .join('\n')
    .trim();

/** Git starts helpers that outlive it: the whole group goes. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/**
 * Builds the way git talks to remotes. The command has no terminal, so that neither git nor ssh can ask for anything. It
 * is ended with its helpers when it takes too long, or prints nothing for too long: it reports progress all the time.
 *
 * @param options.timeoutMs the longest one transfer may take
 * @param options.stallMs the longest it may print nothing
 */
export function createTransfer(git: GitRunner, options: { timeoutMs: number; stallMs: number }): GitTransfer {
  return async (args, { cwd, config = [], env = {} }) => {
    const repository = await git.repositories.environment(cwd);
    if (writesToRepository(args)) {
      verifyRepository(git.repositories.place(cwd));
    }
    const sshCommand = valueOf(await git.repositories.effective(cwd), 'core.sshcommand');
    const stallSeconds = Math.ceil(options.stallMs / 1_000);
    const settings = configured([...hardening, ...plainTransfers, ...config, `http.lowSpeedTime=${stallSeconds}`]);
    return new Promise<TransferResponse>((resolve, reject) => {
      const child = asOperator(() =>
        spawn('git', [...settings, ...args], {
          cwd,
          env: { ...transferEnvironment(repository, sshCommand !== undefined), ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
          // A session of its own has no terminal, and can be ended as a whole.
          detached: true,
        }),
      );
      let ended: string | undefined;
      const end = (reason: string): void => {
        ended ??= reason;
        killGroup(child);
      };
      const late = setTimeout(() => end(`took longer than ${options.timeoutMs} ms`), options.timeoutMs);
      const stalled = setTimeout(() => end(`made no progress for ${options.stallMs} ms`), options.stallMs);
      const output = { stdout: '', stderr: '' };
      const listen = (stream: 'stdout' | 'stderr'): void => {
        child[stream].setEncoding('utf8').on('data', (text: string) => {
          stalled.refresh();
          output[stream] = (output[stream] + text).slice(-outputLimit);
        });
      };
      listen('stdout');
      listen('stderr');
      const settle = (): void => {
        clearTimeout(late);
        clearTimeout(stalled);
      };
      child.once('error', (error) => {
        settle();
        reject(new GitError('not-a-repository', `git ${args[0] ?? ''}: ${error.message}`));
      });
      child.once('close', (exitCode) => {
        settle();
        if (ended !== undefined) {
          reject(new GitError('timeout', `git ${args[0] ?? ''} ${ended}.`));
        } else {
          resolve({ exitCode, stdout: output.stdout, stderr: withoutProgress(output.stderr) });
        }
      });
    });
  };
}
