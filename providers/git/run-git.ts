import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../platform/log/log';
import type { ProgramEnd } from '../../platform/processes/programs/program';
import { programRunner, type RunProgram } from '../../platform/processes/programs/program-runner';
import type { SequenceLock } from '../../platform/processes/sequence-lock';
import { cut } from '../../platform/text/cut';
import { inGitSpan } from '../../platform/tracing/git-commands';
import { isTracing } from '../../platform/tracing/spans';
import { configured, gitEnvironment, hardening } from './git-environment';
import { GitError, type GitErrorCode } from './git-error';
import { verifyRepository, writesToRepository } from './repository/verify-repository';
import {
  createRepositorySettings,
  type RepositorySettings,
  type SettingsOptions,
} from './settings/repository-settings';

/** The most output of one command that is read, in bytes. */
const outputLimitBytes = 64 * 1_048_576;

export interface GitCommand {
  /** Working directory; git looks for a repository in it and not above it. */
  cwd: string;
  input?: string;
  /** Additional variables: the index to use, the date of a commit. */
  env?: Record<string, string>;
  /** Additional settings, `name=value`. */
  config?: readonly string[];
  /** The longest it may take instead of what is usual, in milliseconds. */
  timeoutMs?: number;
  /** Exit codes besides 0 that are a result and not a failure. */
  okCodes?: readonly number[];
  /** How its output is read: `latin1` for bytes, one character each. */
  encoding?: 'latin1';
  /** It is only started while all of them are locked. */
  locks?: readonly SequenceLock[];
}

export interface GitResponse {
  exitCode: number;
  stdout: string;
}

export interface GitRunner {
  /** @throws GitError */
  (args: readonly string[], command: GitCommand): Promise<GitResponse>;
  /** How long a lock is waited for, in milliseconds. */
  readonly lockWaitMs: number;
  readonly log: Log | undefined;
  /** Where repositories are, and the configuration that git works on them with. */
  readonly repositories: RepositorySettings;
  /** Right before a file of the worktree is changed by ourselves: it is still this holder's. @throws GitError `fenced` */
  readonly assertHeld: () => void;
  /** The same, confirmed by the stores. @throws GitError `fenced` */
  readonly verify: () => Promise<void>;
}

interface Failure {
  code: GitErrorCode;
  message: string;
}

/** Messages of git, and what they mean here. */
const failures: readonly [RegExp, GitErrorCode][] = [
  [/not a git repository|not a working tree|must be run in a work tree/i, 'not-a-repository'],
  [/cannot lock ref '.*': (?:is at|reference already exists|unable to resolve reference)/i, 'stale'],
  [/unable to create '.*\.lock'|\.lock': File exists|could not lock|another git process/i, 'locked'],
  [/already (?:checked out|used by worktree)|already exists/i, 'conflict'],
  [/unknown revision|bad revision|not a valid (?:object name|ref|commit)|invalid reference|bad object/i, 'unknown-ref'],
];

async function execute(
  runProgram: RunProgram,
  args: readonly string[],
  { command, ...options }: { command: GitCommand; timeoutMs: number; repository: Record<string, string> },
): Promise<{ answer: GitResponse } | { failure: Failure }> {
  const program = {
    file: 'git',
    args: [...configured([...hardening, ...(command.config ?? [])]), ...args],
    cwd: command.cwd,
    env: gitEnvironment({ ...options.repository, ...command.env }),
    input: command.input ?? '',
    timeoutMs: options.timeoutMs,
    maxOutputBytes: outputLimitBytes,
    encoding: command.encoding,
    locks: command.locks,
  };
  const { okCodes } = command;
  const end = await (isTracing() ? inGitSpan({ args, okCodes }, () => runProgram(program)) : runProgram(program));
  const { exitCode, stdout } = end;
  if (exitCode === 0 || (exitCode !== null && okCodes?.includes(exitCode))) {
    return { answer: { exitCode, stdout } };
  }
  return { failure: failureOf(args, end, options.timeoutMs) };
}

function failureOf(args: readonly string[], { failure, stderr }: ProgramEnd, timeoutMs: number): Failure {
  const what = `git ${args.find((arg) => !arg.startsWith('-')) ?? ''}`;
  switch (failure) {
    case 'output':
      return { code: 'failed', message: `${what} printed more than ${outputLimitBytes} bytes.` };
    case 'timeout':
      return { code: 'timeout', message: `${what} took longer than ${timeoutMs} ms.` };
    case 'fenced':
      return { code: 'fenced', message: `${what}: another process has acquired the worktree.` };
    case 'not-found':
      // The system reports a missing working directory as if git were missing.
      return { code: 'not-a-repository', message: `${what}: no such directory, or no git.` };
    default: {
      const reason = cut(stderr.trim(), 2_000) || 'no reason given';
      const code = failures.find(([pattern]) => pattern.test(reason))?.[1] ?? 'failed';
      return { code, message: `${what}: ${reason}` };
    }
  }
}

export interface GitRunnerOptions {
  /** Where the configuration of repositories is recorded. */
  settingsDir: string;
  /** The longest one git command may take. */
  timeoutMs: number;
  /** How long a lock of another git process is waited for. */
  lockWaitMs: number;
  log?: Log | undefined;
  /** Whether worktrees may belong to another user, who agents run as: git refuses to touch those otherwise. */
  othersWork?: boolean;
  /** Called right before every command and every change of a worktree; throws where none may be made. */
  assertAllowed?: (() => void) | undefined;
  inspecting?: SettingsOptions['inspecting'];
}

/**
 * Builds the one way git is run here: without a shell, with bounded time and output, unaffected by hooks, by the
 * repository's configuration and by the caller's environment. A lock of another git process is waited for.
 */
export function createGitRunner(options: GitRunnerOptions): GitRunner {
  const { assertAllowed = () => undefined } = options;
  const runProgram = programRunner();
  const repositories = createRepositorySettings(runProgram, options);
  /** Exactly the directory that we have chosen to work in, and no other. */
  const trusting = (command: GitCommand): GitCommand =>
    options.othersWork ? { ...command, config: [...(command.config ?? []), `safe.directory=${command.cwd}`] } : command;
  const run = async (args: readonly string[], command: GitCommand): Promise<GitResponse> => {
    const repository = await repositories.environment(command.cwd);
    if (writesToRepository(args)) {
      verifyRepository(repositories.place(command.cwd));
    }
    const deadline = performance.now() + options.lockWaitMs;
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 250)) {
      assertAllowed();
      const outcome = await execute(runProgram, args, {
        command: trusting(command),
        timeoutMs: command.timeoutMs ?? options.timeoutMs,
        repository,
      });
      if ('answer' in outcome) {
        return outcome.answer;
      }
      const { code, message } = outcome.failure;
      if (code !== 'locked' || performance.now() >= deadline) {
        throw new GitError(code, message);
      }
      options.log?.debug({ command: args[0], pauseMs }, 'git lock contention, waiting');
      await delay(pauseMs);
    }
  };
  return Object.assign(run, {
    lockWaitMs: options.lockWaitMs,
    log: options.log,
    repositories,
    // A caller without a token is the only one that works there.
    assertHeld: assertAllowed,
    verify: async () => assertAllowed(),
  });
}

/** The standard output of a command without its last line end. */
export async function gitText(git: GitRunner, args: readonly string[], command: GitCommand): Promise<string> {
  return (await git(args, command)).stdout.replace(/\n$/, '');
}

/** The NUL-separated fields of a command's standard output. */
export async function gitFields(git: GitRunner, args: readonly string[], command: GitCommand): Promise<string[]> {
  const { stdout } = await git(args, command);
  return stdout === '' ? [] : stdout.replace(/\0$/, '').split('\0');
}
