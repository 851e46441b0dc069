import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { findCommand } from '../processes/find-command';

/** A git process: when it was started, in milliseconds since 1970, and its arguments without settings. */
export interface StartedGit {
  at: number;
  command: string;
}

export interface CountingGit {
  /** A `PATH` whose git writes down each start, and then is git. */
  path: string;
  readonly started: () => Promise<StartedGit[]>;
}

/** Counts the git processes that are started with its `PATH`. Those that git starts by itself are not counted. */
export async function countingGit(directory: string): Promise<CountingGit> {
  const real = findCommand('git', process.env.PATH ?? '');
  if (!('path' in real)) {
    throw new Error(real.problem);
  }
  const bin = join(directory, 'counting-git');
  const log = join(directory, 'counting-git.log');
  await mkdir(bin);
  await writeFile(log, '');
  // One short write each: the lines of processes at the same time stay whole.
  const script = `#!/bin/bash
line="$EPOCHREALTIME"$'\\t'"\${*//$'\\n'/ }"
printf '%s\\n' "\${line:0:4000}" >>'${log}'
exec '${real.path}' "$@"
`;
  await writeFile(join(bin, 'git'), script);
  await chmod(join(bin, 'git'), 0o755);
  return {
    path: [bin, process.env.PATH].join(delimiter),
    started: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean).map(parse),
  };
}

function parse(line: string): StartedGit {
  const [at = '', args = ''] = line.split('\t');
  return { at: Number(at) * 1000, command: args.replace(/^(?:-c \S+ )+/, '') };
}
