import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { agentDirectories, parentDirectories, rootFiles } from '../../../domain/workspaces/trusted-files';

/**
 * What agents read by themselves at the top of a worktree, tracked or not: files, links as they are, and repositories
 * inside as a path that ends with a slash, as git lists them. Read here, because git would be one more process for every
 * launch, and synchronously, because each read would cost fifty times as much by way of the thread pool.
 *
 * @param most about as many as are listed
 */
export function rootedFiles(root: string, most: number): string[] {
  const links = parentDirectories.filter((path) => kindOf(root, path) === 'link');
  const names = new Set([...Object.keys(rootFiles), ...agentDirectories]);
  const listed: string[] = [];
  for (const path of names) {
    if (links.some((link) => path.startsWith(`${link}/`))) {
      continue;
    }
    const kind = kindOf(root, path);
    if (kind === 'directory') {
      listDirectory(root, path, { most, listed });
    } else if (kind !== undefined) {
      listed.push(path);
    }
  }
  return [...links, ...listed];
}

function kindOf(root: string, path: string): 'directory' | 'link' | 'file' | undefined {
  const facts = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (!facts) {
    return undefined;
  }
  return facts.isDirectory() ? 'directory' : facts.isSymbolicLink() ? 'link' : 'file';
}

/** Adds everything below a directory, until there are more than `most`. */
function listDirectory(root: string, directory: string, { most, listed }: { most: number; listed: string[] }): void {
  const entries = readdirSync(join(root, directory), { withFileTypes: true });
  if (entries.some(({ name }) => name === '.git')) {
    listed.push(`${directory}/`);
    return;
  }
  for (const entry of entries) {
    if (listed.length > most) {
      return;
    }
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) {
      listDirectory(root, path, { most, listed });
    } else {
      listed.push(path);
    }
  }
}
