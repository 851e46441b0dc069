import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { storableText } from '../../../platform/text/well-formed';
import type { Program } from './command-sandbox';

/** How a program ended. */
export interface ProgramResult {
  /** `null` when a signal ended it. */
  exitCode: number | null;
  signal?: string;
  /** Whether it was ended because its time was over. */
  timedOut: boolean;
  stdout: Captured;
  stderr: Captured;
  durationMs: number;
}

/** The beginning of what a program wrote. */
export interface Captured {
  text: string;
  /** How much it wrote, in bytes. */
  bytes: number;
}

/** How much is stored of each stream, in bytes; a program may write more, which is counted only. */
const storedBytes = 200_000;

/** A program that runs. */
export interface RunningProgram {
  /** What it has written so far. */
  output: () => Pick<ProgramResult, 'stdout' | 'stderr'>;
  /** Rejects with the signal's reason when it aborted, or with the system's when it cannot be started. */
  ended: Promise<ProgramResult>;
}

/**
 * Runs a program to its end, without a shell and without input. It leads a process group, which is killed when its time is over
 * or the signal aborts.
 *
 * @throws the signal's reason when it aborted; Error from the system when it cannot be started
 */
export async function runProgram(program: Program, options: ProgramOptions): Promise<ProgramResult> {
  options.signal.throwIfAborted();
  return startProgram(program, options).ended;
}

interface ProgramOptions {
  directory: string;
  environment: NodeJS.ProcessEnv;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Starts a program as `runProgram` does. */
export function startProgram(
  { path, args }: Program,
  { directory, environment, timeoutMs, signal }: ProgramOptions,
): RunningProgram {
  const startedAt = performance.now();
  const child = spawn(path, [...args], {
    cwd: directory,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const captured = [capture(child.stdout), capture(child.stderr)] as const;
  const output = () => ({ stdout: captured[0](), stderr: captured[1]() });
  let timedOut = false;
  const kill = (): void => {
    if (child.pid !== undefined) {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  };
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  const untilEnd = async (): Promise<ProgramResult> => {
    try {
      const end = await new Promise<{ code: number | null; by: NodeJS.Signals | null }>((resolve, reject) => {
        child.once('error', reject).once('close', (code, by) => resolve({ code, by }));
      });
      signal.throwIfAborted();
      return {
        exitCode: end.code,
        ...(end.by && { signal: end.by }),
        timedOut,
        ...output(),
        durationMs: Math.round(performance.now() - startedAt),
      };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      // What it has started and not ended goes with it.
      kill();
    }
  };
  return { output, ended: untilEnd() };
}

function capture(stream: Readable): () => Captured {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    const room = storedBytes - Math.min(bytes, storedBytes);
    bytes += chunk.length;
    if (room > 0) {
      chunks.push(chunk.subarray(0, room));
    }
  });
  return () => ({ text: storableText(Buffer.concat(chunks).toString('utf8')), bytes });
}
