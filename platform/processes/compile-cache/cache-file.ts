import { hash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, renameSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';

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

/** A recording in a file, of which the data is read module by module. */
export interface RecordedCache {
  installed: string | undefined;
  /** Nothing for a module that is unknown or was compiled from another source, or whose data is damaged. */
  dataOf(path: string, source: string): Buffer | undefined;
  has(path: string): boolean;
  resolve(path: string, request: string): string | undefined;
}

/** Where the data of a module is in the file, beside the digests of its source and of that data: V8 runs damaged data. */
type Entry = [digest: string, seal: string, offset: number, length: number];

/** Names are relative to the root, so that the whole directory can be moved. */
interface Index {
  installed: string | undefined;
  names: string[];
  /** By the number of the name. */
  modules: [number, Entry][];
  resolved: [number, Record<string, number>][];
}

const sealBytes = 44;
const lengthBytes = 4;

export const digestOf = (content: string | Buffer): string => hash('sha256', content, 'base64');

/** SHA-256 of a file; nothing where there is none. */
export function digestOfFile(path: string): string | undefined {
  try {
    return digestOf(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** Opens what `writeCacheFile` wrote; nothing where there is no such file, or its index is damaged. */
export function openCacheFile(file: string, root: string): RecordedCache | undefined {
  try {
    const descriptor = openSync(file, 'r');
    const read = (offset: number, length: number): Buffer => {
      const buffer = Buffer.allocUnsafeSlow(length);
      return buffer.subarray(0, readSync(descriptor, buffer, 0, length, offset));
    };
    const index = readIndex(read);
    if (index === undefined) {
      closeSync(descriptor);
      return undefined;
    }
    return cacheOf(index, root, read);
  } catch {
    return undefined;
  }
}

type Read = (offset: number, length: number) => Buffer;

function readIndex(read: Read): (Index & { begin: number }) | undefined {
  const head = read(0, sealBytes + lengthBytes);
  const length = head.readUInt32LE(sealBytes);
  const content = read(sealBytes + lengthBytes, length);
  if (digestOf(content) !== head.toString('latin1', 0, sealBytes)) {
    return undefined;
  }
  return { ...(JSON.parse(content.toString()) as Index), begin: sealBytes + lengthBytes + length };
}

function cacheOf(index: Index & { begin: number }, root: string, read: Read): RecordedCache {
  const paths = index.names.map((name) => join(root, name));
  const pathOf = (number: number): string => paths[number] ?? '';
  const modules = new Map(index.modules.map(([number, entry]) => [pathOf(number), entry]));
  const resolved = new Map(index.resolved.map(([number, requests]) => [pathOf(number), requests]));
  return {
    installed: index.installed,
    has: (path) => modules.has(path),
    dataOf(path, source) {
      const [digest, seal, offset, length] = modules.get(path) ?? [];
      if (digest === undefined || offset === undefined || length === undefined || digest !== digestOf(source)) {
        return undefined;
      }
      const data = read(index.begin + offset, length);
      return digestOf(data) === seal ? data : undefined;
    },
    resolve(path, request) {
      const requests = resolved.get(path);
      const number = requests && Object.hasOwn(requests, request) ? requests[request] : undefined;
      return number === undefined ? undefined : paths[number];
    },
  };
}

/** Replaces the file in one step: a process that starts meanwhile reads the old one or the new one. */
export function writeCacheFile(file: string, root: string, { modules, resolved, installed }: Recording): void {
  const numbers = new Map<string, number>();
  const numberOf = (path: string): number => {
    const known = numbers.get(path) ?? numbers.size;
    numbers.set(path, known);
    return known;
  };
  let offset = 0;
  const entries = [...modules].map(([path, { digest, data }]): [number, Entry] => {
    offset += data.length;
    return [numberOf(path), [digest, digestOf(data), offset - data.length, data.length]];
  });
  const requests = [...resolved].map(([path, each]): [number, Record<string, number>] => [
    numberOf(path),
    Object.fromEntries([...each].map(([request, target]) => [request, numberOf(target)])),
  ]);
  const names = [...numbers.keys()].map((path) => relative(root, path));
  const content = Buffer.from(JSON.stringify({ installed, names, modules: entries, resolved: requests }));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(content.length);
  const next = `${file}.${process.pid}`;
  const descriptor = openSync(next, 'w', 0o644);
  for (const part of [
    Buffer.from(digestOf(content)),
    length,
    content,
    ...[...modules.values()].map(({ data }) => data),
  ]) {
    writeSync(descriptor, part);
  }
  closeSync(descriptor);
  renameSync(next, file);
}
