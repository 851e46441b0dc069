import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { persistentId } from '../platform/processes/persistent-id';

/**
 * The id of this host on its data directory: the configured one, else one made once and stored. Workers on one data directory
 * are one host, because they share its worktrees.
 */
export async function hostIdOf(dataDir: string, configured: string | undefined): Promise<string> {
  return (
    configured ?? persistentId(join(dataDir, 'host-id'), () => `${readableName()}-${randomBytes(3).toString('hex')}`)
  );
}

const readableName = () =>
  hostname()
    .replace(/[^A-Za-z0-9-]/g, '-')
    .replace(/^-+/, '')
    .slice(0, 40) || 'host';
