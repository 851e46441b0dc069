import { constants, type Stats } from 'node:fs';
import { open, opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { cut } from '../../../platform/text/cut';
import { cleanText, indexFormat, maxText, type SearchSource } from './source';

const prefix = 'docs:';
const textFile = /\.(?:md|mdx|markdown|txt|rst|adoc|org)$/i;
const limits = { files: 100_000, depth: 16, statsAtOnce: 32 };
const heading = /^\s{0,3}#{1,6}\s+(\S.*)$/m;

const versionOf = ({ mtimeMs, size, ino }: Stats): string => `${indexFormat}:${mtimeMs}:${size}:${ino}`;

/** Names that begin with a dot are not for readers, and those with control characters for no one. */
const isShown = (name: string): boolean => !name.startsWith('.') && !/[\u0000-\u001f\u007f\\]/.test(name);

/** Relative paths of the text files below a directory. Links are not followed: what they lead to may be no document. */
async function* filesBelow(root: string, path = '', depth = 0): AsyncGenerator<string> {
  const folder = await opendir(join(root, path)).catch(() => undefined);
  if (!folder) {
    return;
  }
  for await (const entry of folder) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    if (!isShown(entry.name)) {
      continue;
    }
    if (entry.isDirectory() && depth < limits.depth) {
      yield* filesBelow(root, inner, depth + 1);
    } else if (entry.isFile() && textFile.test(entry.name)) {
      yield inner;
    }
  }
}

/** Reads the beginning of a regular file, with the version of what was read. */
async function readStart(path: string): Promise<{ text: string; version: string } | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) {
      return undefined;
    }
    const buffer = Buffer.alloc(Math.min(stats.size, 4 * maxText));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return { text: buffer.subarray(0, bytesRead).toString('utf8'), version: versionOf(stats) };
  } finally {
    await file.close();
  }
}

const isGone = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The text files below the directory of documents, which need not exist. */
export const createDocumentSource = (directory: string): SearchSource => ({
  prefix,
  collections: ['docs'],

  async *list() {
    let count = 0;
    for await (const path of filesBelow(directory)) {
      count += 1;
      if (count > limits.files) {
        return;
      }
      const stats = await stat(join(directory, path)).catch(() => undefined);
      if (stats?.isFile()) {
        yield { id: prefix + path, collection: 'docs', version: versionOf(stats) };
      }
    }
  },

  async load(id) {
    const path = id.slice(prefix.length);
    try {
      const root = await realpath(directory);
      // A folder on the way may have become a link since its files were listed.
      if ((await realpath(join(root, path))) !== join(root, path)) {
        return undefined;
      }
      const found = await readStart(join(root, path));
      if (!found || !textFile.test(path) || !path.split('/').every(isShown)) {
        return undefined;
      }
      const text = cleanText(found.text);
      const title = heading.exec(text)?.[1]?.trim() ?? path.slice(path.lastIndexOf('/') + 1);
      return {
        ...{ id, ref: path, collection: 'docs', version: found.version },
        ...{ title: cut(title, 200), heading: `${title} ${path}`, path, text },
      };
    } catch (error) {
      if (isGone(error)) {
        return undefined;
      }
      throw error;
    }
  },
});
