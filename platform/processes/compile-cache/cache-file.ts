import { hash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, renameSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { openTable, type Row, rowBytes, tableOf } from './cache-table';

/** What is known of one module. */
export interface RecordedModule {
  /** SHA-256 of the source: data of another source would run that one's code. */
  digest: string;
  /** What V8 made of it. */
  data: Buffer;
}

/** What an earlier process has found out about modules, each under its absolute path. */
export interface Recording {
  modules: ReadonlyMap<string, RecordedModule>;
  /** Which file each request of a module leads to. */
  resolved: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** SHA-256 of what was installed at that time. */
  installed: string | undefined;
}

/**
 * A recording in a file, of which the entry of a module is read when that is loaded. A process keeps none of them: the service
 * has more modules than a part needs, and a thread of a part has another such cache.
 */
export interface RecordedCache {
  installed: string | undefined;
  /** Nothing for a module that is unknown or was compiled from another source, or whose entry is damaged. */
  dataOf(path: string, source: string): Buffer | undefined;
  has(path: string): boolean;
  resolve(path: string, request: string): string | undefined;
}

/** What precedes the data of a module. Names are relative to the root, so that the whole directory can be moved. */
interface Head {
  /** Of the source; nothing where only requests are known. */
  digest?: string | undefined;
  resolved: Record<string, string>;
}

/** SHA-256 of the table and of what was installed; V8 runs damaged data, so the table has one of each entry. */
const sealBytes = 44;
const lengthBytes = 4;
/** Modules that are being loaded make their requests by turns. */
const headsKept = 64;

export const digestOf = (content: string | Buffer): string => hash('sha256', content, 'base64');

/** SHA-256 of a file; nothing where there is none. */
export function digestOfFile(path: string): string | undefined {
  try {
    return digestOf(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** Opens what `writeCacheFile` wrote; nothing where there is no such file, or its table is damaged. */
export function openCacheFile(file: string, root: string): RecordedCache | undefined {
  try {
    const descriptor = openSync(file, 'r');
    const read = (offset: number, length: number): Buffer => {
      const buffer = Buffer.allocUnsafeSlow(length);
      return buffer.subarray(0, readSync(descriptor, buffer, 0, length, offset));
    };
    const cache = readCache(read, root);
    if (cache === undefined) {
      closeSync(descriptor);
    }
    return cache;
  } catch {
    return undefined;
  }
}

type Read = (offset: number, length: number) => Buffer;

function readCache(read: Read, root: string): RecordedCache | undefined {
  const begin = sealBytes + 2 * lengthBytes;
  const front = read(0, begin);
  const [installedBytes, rows] = [front.readUInt32LE(sealBytes), front.readUInt32LE(sealBytes + lengthBytes)];
  const content = read(begin, installedBytes + rows * rowBytes);
  if (digestOf(Buffer.concat([front.subarray(sealBytes), content])) !== front.toString('latin1', 0, sealBytes)) {
    return undefined;
  }
  const installed = content.toString('latin1', 0, installedBytes) || undefined;
  return cacheOf(installed, openTable(content.subarray(installedBytes), begin + content.length), { root, read });
}

type Entry = Head & { data: Buffer };

function cacheOf(
  installed: string | undefined,
  table: ReturnType<typeof openTable>,
  { root, read }: { root: string; read: Read },
): RecordedCache {
  const inRoot = root.endsWith('/') ? root : `${root}/`;
  const nameOf = (path: string): string => (path.startsWith(inRoot) ? path.slice(inRoot.length) : relative(root, path));
  const heads = new Map<string, Head | undefined>();
  const readEntry = (path: string): Entry | undefined => {
    const row = table.find(nameOf(path));
    const entry = row && entryOf(row, read);
    if (heads.size >= headsKept) {
      heads.clear();
    }
    heads.set(path, entry && { digest: entry.digest, resolved: entry.resolved });
    return entry;
  };
  return {
    installed,
    has: (path) => table.find(nameOf(path)) !== undefined,
    dataOf(path, source) {
      const entry = readEntry(path);
      return entry?.digest !== undefined && entry.digest === digestOf(source) ? entry.data : undefined;
    },
    resolve(path, request) {
      const { resolved } = (heads.has(path) ? heads.get(path) : readEntry(path)) ?? {};
      return resolved && Object.hasOwn(resolved, request) ? join(root, resolved[request] ?? '') : undefined;
    },
  };
}

/** Nothing for an entry that is damaged. */
function entryOf({ offset, length, seal }: Row, read: Read): Entry | undefined {
  const content = read(offset, length);
  if (!hash('sha256', content, 'buffer').equals(seal)) {
    return undefined;
  }
  const end = lengthBytes + content.readUInt32LE();
  return { ...(JSON.parse(content.toString('utf8', lengthBytes, end)) as Head), data: content.subarray(end) };
}

/** Replaces the file in one step: a process that starts meanwhile reads the old one or the new one. */
export function writeCacheFile(file: string, root: string, { modules, resolved, installed = '' }: Recording): void {
  const names = new Set([...modules.keys(), ...resolved.keys()]);
  const entries = [...names].map((path) => {
    const requests = [...(resolved.get(path) ?? [])].map(([request, target]): [string, string] => [
      request,
      relative(root, target),
    ]);
    const { digest, data = Buffer.alloc(0) } = modules.get(path) ?? {};
    const head: Head = { digest, resolved: Object.fromEntries(requests) };
    const headText = Buffer.from(JSON.stringify(head));
    return { name: relative(root, path), content: Buffer.concat([uint32(headText.length), headText, data]) };
  });
  const content = Buffer.concat([
    uint32(installed.length),
    uint32(entries.length),
    Buffer.from(installed),
    tableOf(entries),
  ]);
  const next = `${file}.${process.pid}`;
  const descriptor = openSync(next, 'w', 0o644);
  for (const part of [Buffer.from(digestOf(content)), content, ...entries.map((entry) => entry.content)]) {
    writeSync(descriptor, part);
  }
  closeSync(descriptor);
  renameSync(next, file);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(lengthBytes);
  bytes.writeUInt32LE(value);
  return bytes;
}
