import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { identify, type ProcessIdentity } from './identity';
import { processIds } from './process-table';

export interface OpenFilesScan {
  /** Whether every process could be inspected, so that no other process holds the directory. */
  complete: boolean;
  processes: OpenFilesProcess[];
}

type OpenFilesProcess = ProcessIdentity & { command: string };

/** Set for processes of the kernel, which have no files (`PF_KTHREAD`). */
const kernelThread = 0x0020_0000;

const gone: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ESRCH']);

/** `undefined` for a process that is gone, is a zombie or belongs to the kernel: it holds nothing. */
async function commandOf(pid: number): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const closing = line.lastIndexOf(')');
  const fields = line.slice(closing + 2).split(' ');
  const [state = ''] = fields;
  if (closing < 0 || state === 'Z' || state === 'X' || (Number(fields[6]) & kernelThread) !== 0) {
    return undefined;
  }
  return line.slice(line.indexOf('(') + 1, closing);
}

/** A file that was closed while it was inspected. */
function ignoreGone(error: unknown): string {
  if (gone.has((error as NodeJS.ErrnoException).code)) {
    return '';
  }
  throw error;
}

/** Whether anything a process works with is in a directory: its own directories, its executable, open and mapped files. */
async function holds(pid: number, directory: string): Promise<boolean> {
  const own = `/proc/${pid}`;
  const inside = (path: string): boolean =>
    path === directory || path.startsWith(directory + sep) || path === `${directory} (deleted)`;
  const links = await Promise.all(['cwd', 'root', 'exe'].map((name) => readlink(`${own}/${name}`)));
  if (links.some(inside)) {
    return true;
  }
  const descriptors = await readdir(`${own}/fd`);
  const open = await Promise.all(descriptors.map((fd) => readlink(`${own}/fd/${fd}`).catch(ignoreGone)));
  if (open.some(inside)) {
    return true;
  }
  const mapped = await readFile(`${own}/maps`, 'utf8');
  return mapped.includes(directory) && mapped.split('\n').some((line) => inside(line.slice(line.indexOf('/'))));
}

/**
 * Whether a process that may not be inspected could work in a directory, by the user it belongs to: those of the own user can,
 * and so can those of other users unless the directory is closed to them. The superuser's are taken for the system's own: a
 * worker that is not root can never see them, and could never prove that none is there.
 */
export const couldHold = (owner: number, closed: boolean, own: number | undefined): boolean =>
  owner === own || (owner !== 0 && !closed);

async function ownerOf(pid: number): Promise<number | undefined> {
  return (await stat(`/proc/${pid}`).catch(() => undefined))?.uid;
}

/** Whether only the owner, and the superuser, can get into a directory: it or one above it denies access to all others. */
export async function isClosed(directory: string): Promise<boolean> {
  for (let path = directory; ; path = dirname(path)) {
    const stats = await stat(path).catch(() => undefined);
    if (stats && (stats.mode & 0o011) === 0) {
      return true;
    }
    if (path === dirname(path)) {
      return false;
    }
  }
}

/** How many processes are inspected together: the time goes into waiting for the system. */
const batchSize = 16;

/**
 * Finds the processes that work inside a directory, except this one. Linux only: elsewhere none is found and the scan is not
 * complete. It is not complete either when a process may not be inspected that could be in there.
 */
export async function findOpenFiles(path: string): Promise<OpenFilesScan> {
  const pids = await processIds();
  const directory = await realpath(path).catch(() => path);
  const closed = await isClosed(directory);
  const others = pids.filter((pid) => pid !== process.pid);
  const holders: (OpenFilesProcess | 'unseen' | undefined)[] = [];
  for (let from = 0; from < others.length; from += batchSize) {
    const inspections = others.slice(from, from + batchSize).map((pid) => inspectProcess(pid, directory, closed));
    holders.push(...(await Promise.all(inspections)));
  }
  return {
    // Every system has a first process: without it, /proc hides those of other users.
    complete: pids.includes(1) && !holders.includes('unseen'),
    processes: holders.filter((each) => typeof each === 'object'),
  };
}

/** The process if it works in the directory; `unseen` if it may not be inspected and could. */
async function inspectProcess(
  pid: number,
  directory: string,
  closed: boolean,
): Promise<OpenFilesProcess | 'unseen' | undefined> {
  try {
    const command = await commandOf(pid);
    if (command === undefined || !(await holds(pid, directory))) {
      return undefined;
    }
    const identity = await identify(pid);
    return identity && { ...identity, command };
  } catch (error) {
    if (gone.has((error as NodeJS.ErrnoException).code) || pid === 1) {
      return undefined;
    }
    const owner = await ownerOf(pid);
    return owner !== undefined && couldHold(owner, closed, process.getuid?.()) ? 'unseen' : undefined;
  }
}
