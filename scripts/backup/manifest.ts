import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';

/** Something is wrong with a backup or with where it goes: a sentence for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** In a backup: its manifest, the checksums that `sha256sum --check` reads, and the data directory. */
export const names = { manifest: 'backup.json', sums: 'SHA256SUMS', data: 'data' } as const;

/** The version of the layout of a backup. */
export const format = 1;

const manifest = z.strictObject({
  format: z.literal(format),
  /** Of the board that made it. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  /** Paths of the databases that are in it. */
  databases: z.array(z.string()),
  /** Whether stores or Temporal are elsewhere, and have backups of their own. */
  filesOnly: z.boolean(),
  files: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  /** Symbolic links by path, with where they lead. */
  links: z.record(z.string(), z.string()),
  /** Empty directories are directories too. */
  directories: z.array(z.string()),
  /** Of the file of checksums. */
  sumsDigest: z.string(),
});

export type Manifest = z.infer<typeof manifest>;

/** The SHA-256 of a file in hexadecimal digits. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Writes a file of a backup and waits for the disk. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Lines as `sha256sum` writes them; it escapes line breaks and backslashes of a name, and marks the line so. */
export const sumLine = (digest: string, path: string): string =>
  /[\n\r\\]/.test(path)
    ? `\\${digest}  ${path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}\n`
    : `${digest}  ${path}\n`;

const escapes: Record<string, string> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r' };

/** The path of each checksum. @throws BackupError for a line that is none */
export function parseSums(text: string): Map<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [, escaped, digest, path] = /^(\\?)([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (digest === undefined || path === undefined) {
      throw new BackupError(`${names.sums} has a line that is no checksum: ${line.slice(0, 100)}`);
    }
    sums.set(escaped ? path.replaceAll(/\\[\\nr]/g, (found) => escapes[found] ?? found) : path, digest);
  }
  return sums;
}

/**
 * Reads the manifest of a backup, and its checksums by path.
 *
 * @throws BackupError when it is none, is not complete, or was made by a later version
 */
export async function readManifest(backup: string): Promise<{ manifest: Manifest; sums: Map<string, string> }> {
  const text = await readFile(join(backup, names.manifest), 'utf8').catch(() => {
    throw new BackupError(`${backup} is not a backup: it has no ${names.manifest}.`);
  });
  const parsed = manifest.safeParse(jsonOf(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new BackupError(
      `${names.manifest} is not one that this version reads: ${issue?.path.join('.') || 'it'}: ${issue?.message}.`,
    );
  }
  const sums = await readFile(join(backup, names.sums)).catch(() => {
    throw new BackupError(`The backup is not complete: it has no ${names.sums}.`);
  });
  if (createHash('sha256').update(sums).digest('hex') !== parsed.data.sumsDigest) {
    throw new BackupError(`${names.sums} has been changed since the backup was made.`);
  }
  return { manifest: parsed.data, sums: parseSums(sums.toString('utf8')) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
