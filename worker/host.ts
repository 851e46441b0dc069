import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile, mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

const idFile = 'host-id';

/**
 * The id of this host on its data directory: the configured one, else one made once and kept. Workers on one data
 * directory are one host, because they share its worktrees.
 */
export async function hostIdOf(dataDir: string, configured: string | undefined): Promise<string> {
  if (configured !== undefined) return configured;
  const path = join(dataDir, idFile);
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${readableName()}-${randomBytes(3).toString('hex')}\n`);
  try {
    // Linking fails if another worker was first, whose id then stands.
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

const readableName = () =>
  hostname()
    .replace(/[^A-Za-z0-9-]/g, '-')
    .replace(/^-+/, '')
    .slice(0, 40) || 'host';
