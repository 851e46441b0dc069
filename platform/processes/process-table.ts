import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';

/** One row of the operating system's process table. */
export interface ProcessEntry {
  pid: number;
  groupId: number;
  /** When it started, in the system's own notation: only good for comparing with another one of the same boot. */
  startTime: string;
  /** Ended, and only waiting for its parent to notice. */
  zombie: boolean;
}

const onLinux = process.platform === 'linux';

/**
 * Parses `/proc/<pid>/stat`. The name in the second field is in parentheses and may itself contain parentheses and spaces, so
 * fields are counted from the last closing one.
 */
export function parseStat(text: string): ProcessEntry | undefined {
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, , group] = fields;
  const startTime = fields[19];
  if (!Number.isInteger(pid) || state === undefined || group === undefined || startTime === undefined) {
    return undefined;
  }
  return { pid, groupId: Number(group), startTime, zombie: state === 'Z' || state === 'X' };
}

const psColumns = 'pid=,pgid=,stat=,lstart=';

/** Parses one line of `ps -o pid=,pgid=,stat=,lstart=`. */
export function parsePsLine(line: string): ProcessEntry | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line);
  if (!match) {
    return undefined;
  }
  const [, pid, group, state = '', startTime = ''] = match;
  return { pid: Number(pid), groupId: Number(group), startTime, zombie: state.startsWith('Z') };
}

const ps = async (args: string[]): Promise<ProcessEntry[]> => {
  // A pid that is gone makes ps exit 1 without output.
  const { stdout } = await promisify(execFile)('ps', [...args, '-o', psColumns]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').flatMap((line) => parsePsLine(line) ?? []);
};

/** The entry of one process, `undefined` when there is none. */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  if (!onLinux) {
    return (await ps(['-p', String(pid)]))[0];
  }
  return readFile(`/proc/${pid}/stat`, 'utf8').then(parseStat, () => undefined);
}

/** Like `readProcess`, in one go: a child cannot be reaped between its start and this call in the same turn. */
export function readProcessNow(pid: number): ProcessEntry | undefined {
  try {
    if (onLinux) {
      return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    }
    return parsePsLine(execFileSync('ps', ['-p', String(pid), '-o', psColumns], { encoding: 'utf8' }));
  } catch {
    return undefined;
  }
}

/** The ids of all processes that can be seen (Linux only; elsewhere empty). */
export async function processIds(): Promise<number[]> {
  if (!onLinux) {
    return [];
  }
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** How many processes are read before other work has its turn. */
const readsInTurn = 32;

/**
 * What `read` finds of each process that can be seen, without those it finds nothing of (Linux only; elsewhere empty). The files
 * of `/proc` are in no disk: reading one at once takes 15 µs, and asking a thread for it ten times as long.
 */
export async function ofEachProcess<T>(read: (pid: number) => T | undefined): Promise<T[]> {
  const found: T[] = [];
  for (const [position, pid] of (await processIds()).entries()) {
    const one = read(pid);
    if (one !== undefined) {
      found.push(one);
    }
    if (position % readsInTurn === readsInTurn - 1) {
      await setImmediate();
    }
  }
  return found;
}

/** The whole table. Processes that end while it is read are omitted. */
export const readProcessTable = (): Promise<ProcessEntry[]> => (onLinux ? ofEachProcess(readProcessNow) : ps(['-A']));
