import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Comparable between the processes of one machine, in milliseconds. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Starts a process of the benchmark; resolves with its first message. It ends when it is disconnected. */
export async function startChild(name: string, argument: object): Promise<{ child: ChildProcess; ready: string }> {
  const child = fork(join(__dirname, `${name}.js`), [JSON.stringify(argument)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended: ${code}`)));
  // Its end is only of interest until it is ready.
  ended.catch(() => undefined);
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [string];
  return { child, ready };
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.disconnect();
    await once(child, 'exit');
  }
}

/** What this process was started with. */
export const argumentOf = (): unknown => JSON.parse(process.argv[2] ?? '');
