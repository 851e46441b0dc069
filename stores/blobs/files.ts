import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { namingFullDisk } from '../../platform/errors/disk-full';
import { syncPath } from '../../platform/processes/disk/sync-path';
import { type Blob, BlobMissingError, type BlobStore, hexOf } from './blob-store';

/** An unfinished file this old belongs to a process that died, in milliseconds. */
const abandonedAfterMs = 3_600_000;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Opens the blobs in a directory: one file each, named by its hash, in 256 folders. */
export async function openFileBlobs(directory: string): Promise<BlobStore> {
  const unfinished = join(directory, 'unfinished');
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await sweep(unfinished);
  const pathOf = (sha256: string): string => {
    const hex = hexOf(sha256);
    return join(directory, hex.slice(0, 2), hex);
  };
  const temporary = () => join(unfinished, `${process.pid}-${randomBytes(8).toString('hex')}`);

  async function put(content: Uint8Array): Promise<Blob> {
    const sha256 = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const path = pathOf(sha256);
    const draft = temporary();
    // Written again even when it exists: that makes it young, and repairs a damaged file.
    try {
      await write(draft, content);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await syncPath(dirname(path));
    await syncPath(directory);
    return { sha256, bytes: content.byteLength };
  }

  return {
    put: (content) => namingFullDisk('attachments and artifacts', () => put(content)),

    async size(sha256) {
      try {
        return (await stat(pathOf(sha256))).size;
      } catch (error) {
        if (isMissing(error)) {
          return undefined;
        }
        throw error;
      }
    },

    async *read(sha256, { offset = 0, length = Infinity } = {}) {
      if (length <= 0) {
        return;
      }
      const handle = await open(pathOf(sha256), 'r').catch((error: unknown) => {
        throw isMissing(error) ? new BlobMissingError(sha256) : error;
      });
      // The stream closes the handle, also when its reader stops early.
      const end = Number.isFinite(length) ? offset + length - 1 : Infinity;
      yield* handle.createReadStream({ start: offset, end, highWaterMark: 65_536 }) as AsyncIterable<Buffer>;
    },

    async remove(sha256, unusedSince) {
      const path = pathOf(sha256);
      const isYoung = async (name: string) => (await stat(name)).mtimeMs >= unusedSince.getTime();
      const doomed = temporary();
      try {
        if (await isYoung(path)) {
          return false;
        }
        await rename(path, doomed);
      } catch (error) {
        if (isMissing(error)) {
          return true;
        }
        throw error;
      }
      // It may have been put between the check and the rename; then it is restored, unless it was put once more.
      const retained = await isYoung(doomed);
      if (retained) {
        await link(doomed, path).catch((error: unknown) => {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
            throw error;
          }
        });
      }
      await rm(doomed);
      return !retained;
    },
  };
}

async function write(path: string, content: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sweep(unfinished: string): Promise<void> {
  for (const name of await readdir(unfinished)) {
    const path = join(unfinished, name);
    const facts = await stat(path).catch(() => undefined);
    if (facts && Date.now() - facts.mtimeMs > abandonedAfterMs) {
      await rm(path, { force: true });
    }
  }
}
