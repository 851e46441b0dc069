import { execFile } from 'node:child_process';
import { holdsSequenceLock, type SequenceLock } from '../sequence-lock';

/** A program to run to its end, without a shell. */
export interface Program {
  file: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment of the program. */
  env: NodeJS.ProcessEnv;
  input?: string;
  /** Then it is killed. */
  timeoutMs: number;
  /** Of each output stream; one that prints more is killed. */
  maxOutputBytes: number;
  /** How its output is read: `latin1` has one character for each byte, whatever they are. UTF-8 when absent. */
  encoding?: 'utf8' | 'latin1' | undefined;
  /** It is only started while all of them are held: checked by the process that starts it, right before that. */
  locks?: readonly SequenceLock[] | undefined;
}

export interface ProgramEnd {
  /** `null` when it did not exit by itself, or was never started. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Why there is no exit code; `not-found` also when there is no such working directory. */
  failure?: 'timeout' | 'output' | 'not-found' | 'killed' | 'fenced';
}

/** Runs a program as a child of this process. Never rejects: every end is a result. */
export function runProgram(program: Program): Promise<ProgramEnd> {
  const { file, args, cwd, env, input, timeoutMs, maxOutputBytes, encoding = 'utf8', locks = [] } = program;
  return new Promise((resolve) => {
    if (!locks.every(holdsSequenceLock)) {
      resolve({ exitCode: null, stdout: '', stderr: '', failure: 'fenced' });
      return;
    }
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' as const, maxBuffer: maxOutputBytes };
    const options = { cwd, env, encoding, ...limits };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) {
        resolve({ exitCode: 0, stdout, stderr });
      } else if (typeof error.code === 'number') {
        resolve({ exitCode: error.code, stdout, stderr });
      } else {
        resolve({ exitCode: null, stdout, stderr: stderr || error.message, failure: failureOf(error) });
      }
    });
    // A program that ends before it has read its input reports why with its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

function failureOf(error: Error & { code?: string | number | null; killed?: boolean }): ProgramEnd['failure'] {
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return 'output';
  }
  if (error.killed) {
    return 'timeout';
  }
  return error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EACCES' ? 'not-found' : 'killed';
}
