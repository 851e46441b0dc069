import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { findCommand } from '../processes/find-command';

/** A git process: when it was started, in milliseconds since 1970, and its arguments without settings. */
export interface StartedGit {
  at: number;
  command: string;
  /** What it and its own children took of a core, in milliseconds; 0 unless that is measured. */
  cpuMs: number;
}

export interface CountingGit {
  /** A `PATH` whose git writes down each start, and then is git. */
  path: string;
  readonly started: () => Promise<StartedGit[]>;
}

/**
 * Counts the git processes that are started with its `PATH`. Those that git starts by itself are not counted.
 *
 * @param options.cpu measures each as well: it is a child of the script then, and counts when it has ended
 */
export async function countingGit(directory: string, { cpu = false } = {}): Promise<CountingGit> {
  const real = findCommand('git', process.env.PATH ?? '');
  if (!('path' in real)) {
    throw new Error(real.problem);
  }
  const bin = join(directory, 'counting-git');
  const log = join(directory, 'counting-git.log');
  await mkdir(bin);
  await writeFile(log, '');
  const run = `'${real.path}' "$@"`;
  // One short write each: the lines of processes at the same time stay whole.
  const write = `printf '%s\\n' "\${line:0:4000}" >>'${log}'`;
  const measured = `exec 3>&1 4>&2
TIMEFORMAT='%3U %3S'
cpu=$( { time ${run} >&3 2>&4 3>&- 4>&-; } 2>&1)
code=$?
line="$cpu $line"
${write}
exit $code`;
  const script = `#!/bin/bash
line="$EPOCHREALTIME"$'\\t'"\${*//$'\\n'/ }"
${cpu ? measured : `line="0 0 $line"\n${write}\nexec ${run}`}
`;
  await writeFile(join(bin, 'git'), script);
  await chmod(join(bin, 'git'), 0o755);
  return {
    path: [bin, process.env.PATH].join(delimiter),
    started: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean).map(parse),
  };
}

/** `<user> <system> <start>\t<arguments>`, with times in seconds. */
function parse(line: string): StartedGit {
  const [facts = '', args = ''] = line.split('\t');
  const [user, system, at] = facts.split(' ').map(Number);
  return {
    at: (at ?? 0) * 1_000,
    command: args.replace(/^(?:-c \S+ )+/, ''),
    cpuMs: Math.round(((user ?? 0) + (system ?? 0)) * 1_000),
  };
}
