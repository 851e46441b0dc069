import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';

/** A git on the PATH that stops where a test requests it, so that a worker can be killed at exactly that point. */
export interface GitBreakpoints {
  /** A PATH that finds it before the real one. */
  path: string;
  /**
   * Stops every git whose directory and arguments match the shell pattern, before it begins or after it succeeded.
   *
   * @param name names the breakpoint
   */
  set(name: string, when: 'before' | 'after', pattern: string): Promise<void>;
  /** Resolves when a git stands at the breakpoint. */
  reached(name: string): Promise<void>;
  /** Takes every breakpoint away, and kills the gits that stand at one: they died with their worker. */
  clear(): Promise<void>;
}

const script = (points: string, path: string) => `#!/bin/sh
line="$PWD $*"
stop() {
  for point in '${points}'/*."$1"; do
    [ -e "$point" ] || continue
    IFS= read -r pattern < "$point"
    case "$line" in
      $pattern)
        echo $$ > "$point.reached"
        while [ -e "$point" ]; do sleep 0.05; done
        ;;
    esac
  done
}
stop before
PATH='${path}' git "$@"
code=$?
[ $code -ne 0 ] || stop after
exit $code
`;

export async function gitBreakpoints(dir: string): Promise<GitBreakpoints> {
  const bin = join(dir, 'bin');
  const points = join(dir, 'points');
  const set: string[] = [];
  await mkdir(bin, { recursive: true });
  await mkdir(points, { recursive: true });
  await writeFile(join(bin, 'git'), script(points, process.env.PATH ?? ''));
  await chmod(join(bin, 'git'), 0o755);
  return {
    path: `${bin}:${process.env.PATH ?? ''}`,
    async set(name, when, pattern) {
      const file = join(points, `${name}.${when}`);
      await writeFile(file, pattern);
      set.push(file);
    },
    async reached(name) {
      const file = set.find((point) => point.startsWith(join(points, `${name}.`)));
      await eventually(() => {
        if (!file || !existsSync(`${file}.reached`)) {
          throw new Error(`no git has reached ${name}`);
        }
      });
    },
    async clear() {
      for (const file of set.splice(0)) {
        const pid = await readFile(`${file}.reached`, 'utf8').catch(() => '');
        if (pid) {
          spawnSync('kill', ['-9', pid.trim()]);
        }
        await rm(file, { force: true });
        await rm(`${file}.reached`, { force: true });
      }
    },
  };
}
