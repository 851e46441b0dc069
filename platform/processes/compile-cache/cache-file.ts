import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** What V8 made of one module, and of which source it did. */
export interface CompiledModule {
  /** SHA-256 of the source: data of another source would run that one's code. */
  digest: string;
  data: Buffer;
}

/** Where a module's data is in the file, beside the digest of its source. */
type Entry = [filename: string, digest: string, offset: number, length: number];

/** SHA-256 of all that follows: V8 itself runs damaged data, whatever that does. */
const sealBytes = 32;
const lengthBytes = 4;

const sealOf = (content: Buffer): Buffer => createHash('sha256').update(content).digest();

export const sourceDigest = (source: string): string => createHash('sha256').update(source).digest('base64');

/** Reads what `writeCacheFile` wrote; empty where there is no such file, or it is damaged. */
export function readCacheFile(path: string): Map<string, CompiledModule> {
  try {
    const file = readFileSync(path);
    const content = file.subarray(sealBytes);
    if (!sealOf(content).equals(file.subarray(0, sealBytes))) {
      return new Map();
    }
    const begin = lengthBytes + content.readUInt32LE(0);
    const entries = JSON.parse(content.toString('utf8', lengthBytes, begin)) as Entry[];
    return new Map(
      entries.map(([filename, digest, offset, length]) => [
        filename,
        { digest, data: content.subarray(begin + offset, begin + offset + length) },
      ]),
    );
  } catch {
    return new Map();
  }
}

/** Replaces the file in one step: a process that starts meanwhile reads the old one or the new one. */
export function writeCacheFile(path: string, modules: ReadonlyMap<string, CompiledModule>): void {
  let offset = 0;
  const entries = [...modules].map(([filename, { digest, data }]): Entry => {
    offset += data.length;
    return [filename, digest, offset - data.length, data.length];
  });
  const index = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(index.length);
  const next = `${path}.${process.pid}`;
  const content = Buffer.concat([length, index, ...[...modules.values()].map(({ data }) => data)]);
  writeFileSync(next, Buffer.concat([sealOf(content), content]), { mode: 0o644 });
  renameSync(next, path);
}
