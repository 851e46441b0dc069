import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identify } from '../../../../platform/processes/identity';
import { eventually } from '../../../../platform/testing/eventually';
import { writesToRepository } from '../../../../providers/git/repository/verify-repository';
import { dieAtChange } from './file-changes';

const realPath = process.env.PATH ?? '';

/** The moment at which an operation dies. */
export interface Moment {
  /** The number of the step, from 0: a git command, or a change that the operation makes to files by itself. */
  step: number;
  when: 'before' | 'after';
  /** Has a line for each step that has begun: `<pid> <command>` of git, or the name of the change. */
  log: string;
  /** Exists once the operation is dead. */
  dead: string;
}

/**
 * Puts a git before the real one that dies at a moment: before its work as if it was killed halfway, with a lock left behind
 * when the worktree's administrative directory is there; or after its work, with its outcome lost.
 */
async function dyingGit(bin: string, { step, when, log, dead }: Moment, adminDirectory: string): Promise<void> {
  await mkdir(bin, { recursive: true });
  await writeFile(log, '');
  const lock = `{ [ -d '${adminDirectory}' ] && : > '${adminDirectory}/index.lock'; }`;
  const script = `#!/bin/sh
PATH='${realPath}'
value=
for argument in "$@"; do
  if [ -n "$value" ]; then value=; continue; fi
  case $argument in -c) value=1 ;; -*) ;; *) break ;; esac
done
echo "$$ $argument" >> '${log}' || kill -9 $$
[ -e '${dead}' ] && kill -9 $$
if [ $(wc -l < '${log}') -gt ${step} ]; then
  ${when === 'after' ? 'git "$@" > /dev/null' : lock}
  : > '${dead}'
  kill -9 $$
fi
exec git "$@"
`;
  await writeFile(join(bin, 'git'), script);
  await chmod(join(bin, 'git'), 0o755);
}

/**
 * Takes the dying git away, and waits for those that are still at it: an operation runs several at once and ends with the
 * first that dies, and another would leave its lock behind after the next call.
 */
async function takeAway(bin: string): Promise<{ isDead: boolean; steps: string[] }> {
  const gone = `${bin}-gone`;
  await rename(bin, gone);
  const steps = (await readFile(join(gone, 'log'), 'utf8')).split('\n').filter(Boolean);
  await eventually(async () => {
    for (const step of steps.filter(isCommand)) {
      expect(await identify(parseInt(step, 10))).toBeUndefined();
    }
  });
  const isDead = await readFile(join(gone, 'dead')).then(
    () => true,
    () => false,
  );
  await rm(gone, { recursive: true });
  return { isDead, steps };
}

const isCommand = (step: string | undefined): boolean => step !== undefined && /^\d/.test(step);

/** Whether the state after a step is not the one in which the operation dies before the next one: that git leaves a lock. */
const isOwnState = (step: string, next: string | undefined): boolean =>
  isCommand(step) ? writesToRepository([step.split(' ')[1] ?? '']) : next === undefined || isCommand(next);

/** How often an operation was killed, by the step that it was at. */
export interface Kills {
  /** Before a git command, and after one that writes. */
  commands: number;
  /** Before, and after, a change that it made to a file or a directory by itself. */
  changes: number;
}

/** Fails where an operation was killed at fewer moments: some of its steps are not counted then, or it has fewer. */
export function expectKills(kills: Kills, atLeast: Kills): void {
  expect(kills.commands).toBeGreaterThanOrEqual(atLeast.commands);
  expect(kills.changes).toBeGreaterThanOrEqual(atLeast.changes);
}

/**
 * Kills `operation` at each of its steps, until it gets through. A step is a git command, or a change of a file or a directory by
 * the operation itself. It is killed before each of them, and after those that leave a state which is not that before the next one.
 * Nothing is done after a kill, no clean-up either. Reading is no step: it leaves no state behind in which to be killed.
 *
 * @param at.directory where the dying git is put; changes below it are steps
 * @param at.adminDirectory of the worktree that a killed git leaves locked
 * @param after runs after every kill, and after the call that got through
 */
export async function killEverywhere(
  { directory, adminDirectory }: { directory: string; adminDirectory: string },
  operation: () => Promise<unknown>,
  after: () => Promise<void>,
): Promise<Kills> {
  const bin = join(directory, 'dying-git');
  const dieAt = async (step: number, when: Moment['when']): Promise<{ isDead: boolean; steps: string[] }> => {
    const moment = { step, when, log: join(bin, 'log'), dead: join(bin, 'dead') };
    await dyingGit(bin, moment, adminDirectory);
    process.env.PATH = `${bin}:${realPath}`;
    const restore = dieAtChange(directory, moment);
    await operation().catch(() => undefined);
    restore();
    process.env.PATH = realPath;
    const end = await takeAway(bin);
    await after();
    return end;
  };
  const kills: Kills = { commands: 0, changes: 0 };
  const count = (step: string | undefined) => (kills[isCommand(step) ? 'commands' : 'changes'] += 1);
  const killed: string[] = [];
  for (;;) {
    const { isDead, steps } = await dieAt(killed.length, 'before');
    const last = killed.at(-1);
    if (last !== undefined && isOwnState(last, steps[killed.length])) {
      await dieAt(killed.length - 1, 'after');
      count(last);
    }
    if (!isDead) {
      return kills;
    }
    killed.push(steps[killed.length] ?? '');
    count(killed.at(-1));
  }
}
