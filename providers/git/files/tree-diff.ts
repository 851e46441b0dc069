import { join } from 'node:path';
import { gitFields, type GitRunner } from '../run-git';
import type { WorktreeLocation } from '../worktrees/worktree-location';

/** A path in which two trees differ. A side on which there is no such path has no entry. */
export interface TreeChange {
  path: string;
  status: 'added' | 'modified' | 'deleted';
  before: TreeEntry | null;
  after: TreeEntry | null;
}

export interface TreeEntry {
  /** Six octal digits, as git writes them. */
  mode: string;
  object: string;
}

/** In which paths two trees differ; a renamed file is one that is gone and one that is new. */
export async function diffTrees(
  git: GitRunner,
  location: WorktreeLocation,
  { before, after }: { before: string; after: string },
): Promise<TreeChange[]> {
  if (before === after) {
    return [];
  }
  const diff = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', '--no-ext-diff', '--no-textconv'];
  // Comparing trees needs no index, yet git reads it, and stops at a damaged one.
  const env = { GIT_INDEX_FILE: join(location.gitDir, 'board-no-index') };
  const fields = await gitFields(git, [...diff, before, after], { cwd: location.path, env });
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    changes.push(changeOf(fields[at] ?? '', fields[at + 1] ?? ''));
  }
  return changes;
}

/** `:100644 100644 <object> <object> M` */
function changeOf(facts: string, path: string): TreeChange {
  const [oldMode = '', newMode = '', oldObject = '', newObject = ''] = facts.slice(1).split(' ');
  const before = entryOf(oldMode, oldObject);
  const after = entryOf(newMode, newObject);
  return { path, status: before === null ? 'added' : after === null ? 'deleted' : 'modified', before, after };
}

const entryOf = (mode: string, object: string): TreeEntry | null => (/^0+$/.test(mode) ? null : { mode, object });
