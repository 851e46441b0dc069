import { lstat, realpath } from 'node:fs/promises';
import { join, posix, relative, sep } from 'node:path';
import type { TrustEntry, WorkspaceInventory } from '../../../contracts/runs/trust';
import { inventoryOf } from '../../../domain/workspaces/trust';
import { isNestedInstruction, parentDirectories, trustKindOf } from '../../../domain/workspaces/trusted-files';
import { contentObject } from '../files/file-object';
import { rootedFiles } from '../files/rooted-files';
import { gitFields, type GitRunner, gitText } from '../run-git';
import { readStatus, untrackedIn } from '../status';
import { locateWorktree, type RecordedWorktree } from '../worktrees/worktree-location';
import { trackedInstructions } from './tracked-instructions';

/** The most files that are listed; no one has read a workspace that brings more. */
const most = 1_000;

/** The result of inspecting a worktree. */
export interface SeenWorktree {
  headSha: string;
  untracked: readonly string[];
}

/**
 * Files of a worktree that agents read by themselves, ignored and untracked files included: that is where an
 * earlier agent would leave something for the next one.
 *
 * @param request.seen the result of an inspection just now; without that, git inspects it
 */
export async function worktreeInventory(
  git: GitRunner,
  { seen, ...recorded }: RecordedWorktree & { seen?: SeenWorktree },
): Promise<WorkspaceInventory> {
  const { path: root } = locateWorktree(git, recorded);
  const [{ headSha, untracked }, listed] = await Promise.all([
    seen ?? readStatus(git, root).then((status) => ({ ...status, untracked: untrackedIn(status) })),
    trackedInstructions(git, root),
  ]);
  const left = untracked.filter((path) => isNestedInstruction(path));
  const inventory = new Found();
  let files = 0;
  for (const path of [...new Set([...listed, ...left, ...rootedFiles(root, most)])].sort()) {
    if (files >= most) {
      inventory.unpinned.push(`more than ${most} files`);
      break;
    }
    const content = await contentOf(root, path);
    if (content === null) {
      continue;
    }
    // The content as it is, without the programs a repository may name for conversion.
    const objectId = content === undefined ? undefined : contentObject(join(root, content), headSha);
    if (content === undefined || objectId === undefined) {
      inventory.unpinned.push(path);
    } else {
      files += 1;
      inventory.add(path, objectId, content);
    }
  }
  return inventory.inventory();
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
  const inventory = new Found();
  for (const [path, { mode, objectId }] of tree) {
    if (mode === '120000' && parentDirectories.some((name) => name === path)) {
      inventory.unpinned.push(path);
    }
    if (trustKindOf(path) === undefined) {
      continue;
    }
    if (inventory.entries.length >= most) {
      inventory.unpinned.push(`more than ${most} files`);
      break;
    }
    if (mode.startsWith('100')) {
      inventory.add(path, objectId, path);
    } else if (mode === '120000') {
      const target = await gitText(git, ['cat-file', 'blob', objectId], { cwd });
      const content = posix.normalize(posix.join(posix.dirname(path), target));
      const file = posix.isAbsolute(target) ? undefined : tree.get(content);
      if (file?.mode.startsWith('100')) {
        inventory.add(path, file.objectId, content);
      } else {
        inventory.unpinned.push(path);
      }
    } else {
      inventory.unpinned.push(path);
    }
  }
  return inventory.inventory();
}

class Found {
  readonly entries: TrustEntry[] = [];
  readonly unpinned: string[] = [];

  add(path: string, objectId: string, content: string): void {
    const kind = trustKindOf(path);
    if (kind === undefined) {
      return;
    }
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
  if (/[\n\r"]/.test(path) || path.endsWith('/')) {
    return undefined;
  }
  try {
    // Also a directory above it may be a link.
    const real = await realpath(join(root, path));
    const content = relative(root, real).split(sep).join('/');
    if (content.startsWith('..') || content === '' || /[\n\r"]/.test(content)) {
      return undefined;
    }
    if (content.split('/')[0] === '.git') {
      return undefined;
    }
    return (await lstat(real)).isFile() ? content : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link to nothing is there; a file that was deleted is not.
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      throw error;
    }
    const there = await lstat(join(root, path)).catch(() => undefined);
    return there === undefined ? null : undefined;
  }
}
