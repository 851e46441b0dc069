import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { environmentDescriptor } from './environment/handed-environment';

/** How a process ended: one of the two is null; both are for a process that is not a child of this one. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child process that was started for certain. */
export interface Child {
  pid: number;
  process: ChildProcess;
  exited: Promise<ProcessEnd>;
  /** SIGTERM, SIGKILL after `graceMs`; resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

export interface LaunchOptions {
  /** The whole environment of the program. */
  environment: NodeJS.ProcessEnv;
  /** Where standard output and error go: to those of this process, or appended to a file. */
  output: 'inherit' | { file: string };
  /** Opens a message channel; its end notifies the child that this process is gone. */
  channel?: boolean;
  /** With a channel: what the child reads from `environmentDescriptor`, for which it waits. */
  handed?: string | Promise<string>;
}

/**
 * Starts a program as a session of its own, so that Ctrl-C in a terminal reaches this process only and it decides the order in
 * which processes end. A log file is passed itself, not through a pipe, so that the child can outlive it.
 *
 * @throws Error from the system, e.g. with code ENOENT
 */
export async function launch(command: string, args: readonly string[], options: LaunchOptions): Promise<Child> {
  const { environment, output, channel = false, handed } = options;
  const file = output === 'inherit' ? undefined : await openForAppend(output.file);
  try {
    const target = file?.fd ?? 'inherit';
    const stdio: StdioOptions = [
      'ignore',
      target,
      target,
      ...(channel ? (['ipc'] as const) : []),
      ...(handed === undefined ? [] : (['pipe'] as const)),
    ];
    const child = spawn(command, args, { detached: true, stdio, env: environment });
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('spawn', () => resolve(child.pid as number)).once('error', reject);
    });
    if (handed !== undefined) {
      void give(child, handed);
    }
    return { pid, process: child, exited, stop: (graceMs) => stop(child, exited, graceMs) };
  } finally {
    await file?.close();
  }
}

/** A child that ends before it has read everything reports why by its exit code. */
async function give(child: ChildProcess, handed: string | Promise<string>): Promise<void> {
  const pipe = child.stdio[environmentDescriptor] as Writable;
  pipe.on('error', () => undefined);
  pipe.end(await handed);
}

async function openForAppend(file: string) {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return open(file, 'a', 0o600);
}

async function stop(child: ChildProcess, exited: Promise<unknown>, graceMs: number): Promise<void> {
  child.kill('SIGTERM');
  const grace = new AbortController();
  await Promise.race([exited, delay(graceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
  grace.abort();
  child.kill('SIGKILL');
  await exited;
}
