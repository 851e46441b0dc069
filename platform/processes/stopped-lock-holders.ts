import { readFile, stat } from 'node:fs/promises';
import type { Log } from '../log/log';

/** The bytes of a `-shm` file by whose lock SQLite has one writer, one checkpoint and one recovery at a time. */
const exclusiveBytes = { first: 120, last: 122 };

const posixWrite = /POSIX\s+\S+\s+WRITE\s+(\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s+(\d+)\s+(\d+|EOF)/;

async function readOrNothing(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** Whether the process was stopped by a signal; one that a debugger holds is not meant. */
async function isStopped(pid: number): Promise<boolean> {
  const text = await readOrNothing(`/proc/${pid}/stat`);
  // The name before it is in parentheses, and may contain some itself.
  return text.slice(text.lastIndexOf(')') + 2).startsWith('T');
}

/**
 * The processes that are stopped while they block every other writer of an SQLite database. None where the system has no
 * `/proc/locks`.
 *
 * @param database the database's file
 */
export async function stoppedLockHolders(database: string): Promise<number[]> {
  const shared = await stat(`${database}-shm`).catch(() => undefined);
  if (!shared) {
    return [];
  }
  const holders = (await readOrNothing('/proc/locks')).split('\n').flatMap((line) => {
    const [, pid, inode, from, to] = posixWrite.exec(line) ?? [];
    if (Number(inode) !== shared.ino || Number(from) > exclusiveBytes.last) {
      return [];
    }
    return to === 'EOF' || Number(to) >= exclusiveBytes.first ? [Number(pid)] : [];
  });
  const stopped = await Promise.all([...new Set(holders)].map(async (pid) => ((await isStopped(pid)) ? [pid] : [])));
  return stopped.flat();
}

export interface HolderWatch {
  database: string;
  /** The processes that may be ended: the service's own parts. */
  pids: () => readonly number[];
  log: Log;
  /** How long a process may hold the lock while it is stopped, in milliseconds; shorter than writers wait. */
  afterMs?: number;
  everyMs?: number;
}

/**
 * Ends parts that are stopped in the middle of a transaction, so that they do not block all others: what they had not committed
 * is undone, and they are started again. Returns how to stop watching.
 */
export function endStoppedLockHolders({
  database,
  pids,
  log,
  afterMs = 5_000,
  everyMs = 1_000,
}: HolderWatch): () => void {
  const since = new Map<number, number>();
  let looking = false;

  async function look(): Promise<void> {
    const holders = (await stoppedLockHolders(database)).filter((pid) => pids().includes(pid));
    for (const pid of since.keys()) {
      if (!holders.includes(pid)) {
        since.delete(pid);
      }
    }
    for (const pid of holders) {
      const first = since.get(pid) ?? performance.now();
      since.set(pid, first);
      if (performance.now() - first < afterMs || !pids().includes(pid)) {
        continue;
      }
      log.warn({ partPid: pid }, 'stopped part killed: it held the database lock');
      process.kill(pid, 'SIGKILL');
      since.delete(pid);
    }
  }

  const timer = setInterval(() => {
    if (looking) {
      return;
    }
    looking = true;
    void look()
      .catch((error: unknown) => log.warn({ err: error }, 'database lock inspection failed'))
      .finally(() => (looking = false));
  }, everyMs).unref();
  return () => clearInterval(timer);
}
