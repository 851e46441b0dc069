import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../../../platform/testing/eventually';

export interface Child {
  /** What it reported so far. */
  reports: unknown[];
  /** Resolves once it has reported `count` times. */
  reported(count: number): Promise<void>;
  /** Resolves with the exit code. */
  exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

const root = join(__dirname, '..', '..', '..');

/** Starts a replica in a process of its own. */
export function spawnChild(dir: string, ...args: string[]): Child {
  const process_: ChildProcess = spawn(
    process.execPath,
    ['-r', join(root, 'test/support/register-ts.cjs'), join(__dirname, 'child.ts'), dir, ...args],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: root },
  );
  const reports: unknown[] = [];
  // Both streams are pipes of ours.
  const lines = createInterface({ input: process_.stdout! });
  lines.on('line', (line) => reports.push(JSON.parse(line)));
  const exited = once(process_, 'exit').then(([code]) => code as number | null);
  return {
    reports,
    exited,
    reported: (count) =>
      eventually(
        () => {
          if (reports.length < count) {
            throw new Error(`${reports.length} of ${count} reports`);
          }
        },
        { everyMs: 5 },
      ),
    kill: async (signal) => {
      process_.kill(signal);
      await exited;
    },
  };
}
