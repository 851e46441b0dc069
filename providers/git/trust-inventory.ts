import { lstat, realpath } from 'node:fs/promises';
import { join, posix, relative, sep } from 'node:path';
import type { TrustEntry, WorkspaceInventory } from '../../contracts/workspace-trust';
import { inventoryOf } from '../../runs/workspace/trust';
import { nestedInstructions, parentDirectories, trustKindOf } from '../../runs/workspace/trusted-files';
import { rootedFiles } from './rooted-files';
import { gitFields, gitText, type GitRunner } from './run-git';

/** The most files that are looked at; a workspace that brings more is not one that somebody has read. */
const most = 1_000;

/**
 * What is in a worktree that agents take up by themselves, ignored and untracked files included: that is where an
 * earlier agent would leave something for the next one.
 */
export async function worktreeInventory(
  git: GitRunner,
  { worktreePath: cwd }: { worktreePath: string },
): Promise<WorkspaceInventory> {
  const nested = nestedInstructions.map((name) => `:(top,glob)**/${name}`);
  const anywhere = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...nested];
  const listed = await gitFields(git, anywhere, { cwd });
  const root = await realpath(cwd);
  listed.push(...rootedFiles(root, most));
  const found = new Found();
  const files = new Map<string, string>();
  for (const path of [...new Set(listed)].sort()) {
    if (files.size >= most) {
      found.unpinned.push(`more than ${most} files`);
      break;
    }
    const content = await contentOf(root, path);
    if (content === undefined) found.unpinned.push(path);
    else if (content !== null) files.set(path, content);
  }
  // Object names of the content as it is, without the programs a repository may name for conversion.
  const input = [...files.values()].map((path) => `${path}\n`).join('');
  const names =
    input === '' ? '' : await gitText(git, ['hash-object', '--no-filters', '--stdin-paths'], { cwd, input });
  const objectIds = names.split('\n');
  [...files].forEach(([path, content], index) => {
    found.add(path, objectIds[index] ?? '', content);
  });
  return found.inventory();
}

/** The same for a worktree that is not there yet: what it would begin with. */
export async function commitInventory(
  git: GitRunner,
  { repositoryPath: cwd, commit }: { repositoryPath: string; commit: string },
): Promise<WorkspaceInventory> {
  const tree = new Map<string, { mode: string; objectId: string }>();
  for (const row of await gitFields(git, ['ls-tree', '-r', '-z', '--full-tree', commit], { cwd })) {
    const [facts = '', path = ''] = row.split('\t', 2);
    const [mode = '', , objectId = ''] = facts.split(' ');
    tree.set(path, { mode, objectId });
  }
  const found = new Found();
  for (const [path, { mode, objectId }] of tree) {
    if (mode === '120000' && parentDirectories.some((name) => name === path)) found.unpinned.push(path);
    if (trustKindOf(path) === undefined) continue;
    if (found.entries.length >= most) {
      found.unpinned.push(`more than ${most} files`);
      break;
    }
    if (mode.startsWith('100')) found.add(path, objectId, path);
    else if (mode === '120000') {
      const target = await gitText(git, ['cat-file', 'blob', objectId], { cwd });
      const content = posix.normalize(posix.join(posix.dirname(path), target));
      const file = posix.isAbsolute(target) ? undefined : tree.get(content);
      if (file?.mode.startsWith('100')) found.add(path, file.objectId, content);
      else found.unpinned.push(path);
    } else found.unpinned.push(path);
  }
  return found.inventory();
}

class Found {
  readonly entries: TrustEntry[] = [];
  readonly unpinned: string[] = [];

  add(path: string, objectId: string, content: string): void {
    const kind = trustKindOf(path);
    if (kind === undefined) return;
    this.entries.push({ path, kind, objectId, ...(content === path ? {} : { linksTo: content }) });
  }

  inventory(): WorkspaceInventory {
    return inventoryOf(this.entries, this.unpinned);
  }
}

/**
 * The path, from the root, of the file whose content a path has; `null` when nothing is there any more, `undefined` when
 * it cannot be pinned down: it leads outside, or to no regular file.
 */
async function contentOf(root: string, path: string): Promise<string | null | undefined> {
  if (/[\n\r"]/.test(path) || path.endsWith('/')) return undefined;
  try {
    // Also a directory above it may be a link.
    const real = await realpath(join(root, path));
    const content = relative(root, real).split(sep).join('/');
    if (content.startsWith('..') || content === '' || /[\n\r"]/.test(content)) return undefined;
    if (content.split('/')[0] === '.git') return undefined;
    return (await lstat(real)).isFile() ? content : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link to nothing is there; a file that was deleted is not.
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    const there = await lstat(join(root, path)).catch(() => undefined);
    return there === undefined ? null : undefined;
  }
}
