import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';

const realPath = process.env.PATH ?? '';

/**
 * Puts a git before the real one that works `calls` times, and then dies as if it was killed halfway: with a lock left
 * behind when the worktree's administrative directory is there.
 */
async function gitThatDiesAfter(directory: string, calls: number, adminDirectory: string): Promise<string> {
  const bin = join(directory, 'dying-git');
  const counter = join(bin, 'count');
  await mkdir(bin, { recursive: true });
  await writeFile(counter, '');
  const script = `#!/bin/sh
echo $$ >> '${counter}'
if [ $(wc -l < '${counter}') -gt ${calls} ]; then
  [ -d '${adminDirectory}' ] && : > '${adminDirectory}/index.lock'
  kill -9 $$
fi
PATH='${realPath}' exec git "$@"
`;
  await writeFile(join(bin, 'git'), script);
  await chmod(join(bin, 'git'), 0o755);
  return bin;
}

/**
 * Takes the dying git away, and waits for those that are still at it: an operation runs several at once and ends with the
 * first that dies, and another would leave its lock behind after the next call.
 */
async function takeAway(bin: string): Promise<void> {
  const gone = `${bin}-gone`;
  await rename(bin, gone);
  const started = (await readFile(join(gone, 'count'), 'utf8')).split('\n').filter(Boolean).map(Number);
  await eventually(async () => {
    for (const pid of started) {
      expect(await identify(pid)).toBeUndefined();
    }
  });
  await rm(gone, { recursive: true });
}

/**
 * Kills `operation` before each of its git commands, until it gets through; returns how often.
 *
 * @param at.directory where the dying git is put
 * @param at.adminDirectory of the worktree it leaves locked
 * @param after runs after every kill, and after the call that got through
 */
export async function killEverywhere(
  { directory, adminDirectory }: { directory: string; adminDirectory: string },
  operation: () => Promise<unknown>,
  after: (kills: number) => Promise<void>,
): Promise<number> {
  for (let calls = 0; ; calls += 1) {
    const bin = await gitThatDiesAfter(directory, calls, adminDirectory);
    process.env.PATH = `${bin}:${realPath}`;
    const survived = await operation().then(
      () => true,
      () => false,
    );
    process.env.PATH = realPath;
    await takeAway(bin);
    await after(calls);
    if (survived) {
      return calls;
    }
  }
}
