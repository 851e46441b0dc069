import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { grouped } from './grouped';

/** Of `/proc/<pid>/stat`, of which Linux counts hundred a second on every platform that Node supports. */
const tickMs = 10;

interface Entry {
  parent: number;
  ownCpuMs: number;
  /** Its own, and that of its children that have ended and were waited for. */
  cpuMs: number;
}

function entries(): Map<number, Entry> {
  const table = new Map<number, Entry>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const ticksOf = (...at: number[]) => at.reduce((sum, each) => sum + Number(fields[each]), 0);
      const own = ticksOf(11, 12);
      table.set(Number(name), {
        parent: Number(fields[1]),
        ownCpuMs: own * tickMs,
        cpuMs: (own + ticksOf(13, 14)) * tickMs,
      });
    } catch {
      // It has ended since the directory was read.
    }
  }
  return table;
}

/** The processor time in milliseconds that a process and all it has started have used so far. */
export function cpuMsOf(pid: number): number {
  const table = entries();
  const children = grouped(table, ([, { parent }]) => parent);
  const sum = (id: number): number =>
    (table.get(id)?.cpuMs ?? 0) + (children.get(id) ?? []).reduce((total, [child]) => total + sum(child), 0);
  return sum(pid);
}

/** The processor time in milliseconds that a process has used so far, without what it has started. */
export const cpuMsAlone = (pid: number): number => entries().get(pid)?.ownCpuMs ?? NaN;

/** A process and all that it and those have started. */
export function processesOf(pid: number): number[] {
  const children = grouped(entries(), ([, { parent }]) => parent);
  const withChildren = (id: number): number[] => [
    id,
    ...(children.get(id) ?? []).flatMap(([child]) => withChildren(child)),
  ];
  return withChildren(pid);
}

/** What a process has in memory now, in MB. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1024);
}

/** The size of a file, or of everything in a directory, in bytes; 0 when there is none. */
export function bytesOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) {
    return stat?.size ?? 0;
  }
  return readdirSync(path).reduce((total, name) => total + bytesOf(join(path, name)), 0);
}

/** The size of a SQLite database with what it has not yet written back, in bytes. */
export function databaseBytes(file: string): number {
  const database = new Libsql(file, { readonly: true });
  try {
    const [pages, pageSize] = ['page_count', 'page_size'].map((name) => database.prepare(`PRAGMA ${name}`).raw().get());
    return Number(pages) * Number(pageSize);
  } finally {
    database.close();
  }
}
