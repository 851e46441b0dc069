import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { inGitSpan } from '../../../platform/tracing/git-commands';
import { isTracing } from '../../../platform/tracing/spans';

/** Where git reads what it is: nothing of the host, and nothing of the workspace, whose commands could change it. */
const environment = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
};
const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.excludesFile=/dev/null', 'gc.auto=0'];
const timeoutMs = 120_000;
const maxErrorCharacters = 2_000;

/** Git has refused a command. */
export class GitFailedError extends Error {
  override readonly name = 'GitFailedError';
}

export interface GitOptions {
  /** The repository: a directory that only the service writes. */
  gitDir: string;
  /** The files, which others may change. */
  workTree?: string;
  index?: string;
  input?: Buffer | AsyncIterable<Buffer | string>;
  /** The most that is read of its output, in bytes. */
  maxBytes?: number;
}

/**
 * Runs git without a shell and returns its output.
 *
 * @throws GitFailedError when it fails, takes too long, or has more output than is read
 */
export async function git(options: GitOptions, args: readonly string[]): Promise<Buffer> {
  const { exitCode, output, problem } = await (isTracing()
    ? inGitSpan({ args }, () => end(options, args))
    : end(options, args));
  if (exitCode !== 0) {
    throw new GitFailedError(`git ${args[0] ?? ''} failed: ${problem}`);
  }
  return output;
}

/** Runs it to its end, whatever that is. @throws GitFailedError when it cannot be started */
async function end(
  { gitDir, workTree, index, input, maxBytes = 16_000_000 }: GitOptions,
  args: readonly string[],
): Promise<{ exitCode: number | null; output: Buffer; problem: string }> {
  const program = spawn('git', [...settings.flatMap((each) => ['-c', each]), '--git-dir', gitDir, ...args], {
    cwd: workTree ?? gitDir,
    env: {
      ...environment,
      ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
      ...(index !== undefined && { GIT_INDEX_FILE: index }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  let problem = '';
  program.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      program.kill('SIGKILL');
    } else {
      chunks.push(chunk);
    }
  });
  program.stderr.on(
    'data',
    (chunk: Buffer) => void (problem = `${problem}${String(chunk)}`.slice(0, maxErrorCharacters)),
  );
  const ended = once(program, 'close') as Promise<[number | null]>;
  // One that ends early reads no more.
  program.stdin.on('error', () => undefined);
  const written = write(program.stdin, input);
  const [exitCode] = await ended.catch((error: unknown) => {
    throw new GitFailedError(`git cannot be run: ${error instanceof Error ? error.message : String(error)}`);
  });
  await written;
  const why = bytes > maxBytes ? `more than ${maxBytes} bytes of output` : problem.trim();
  return { exitCode, output: Buffer.concat(chunks), problem: why };
}

async function write(stdin: NodeJS.WritableStream, input: GitOptions['input']): Promise<void> {
  if (input === undefined || Buffer.isBuffer(input)) {
    stdin.end(input ?? '');
    return;
  }
  try {
    for await (const chunk of input) {
      if (!stdin.write(chunk) && 'destroyed' in stdin && stdin.destroyed !== true) {
        await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]);
      }
    }
  } finally {
    stdin.end();
  }
}
