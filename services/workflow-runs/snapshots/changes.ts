import { git } from './git';

/** The tree without files. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
/** What is shown of one file, in bytes. */
const maxShown = 65_536;

export interface ChangedPath {
  path: string;
  /** Ids of their contents; absent where it is not there. */
  before?: string;
  after?: string;
}

/** Not what is not there, and no submodule. */
const isFile = (mode: string): boolean => /^1[02]/.test(mode);

/** What has changed from one commit to another; from nothing when the first is absent. Renamed files are a deletion and a creation. */
export async function changedPaths(gitDir: string, from: string | undefined, to: string): Promise<ChangedPath[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--raw', '--no-abbrev', from ?? emptyTree, to];
  const fields = String(await git({ gitDir }, args)).split('\0');
  const changes: ChangedPath[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [modeBefore = '', modeAfter = '', before = '', after = ''] = (fields[at] ?? '').slice(1).split(' ');
    const ids = {
      ...(isFile(modeBefore) && { before }),
      ...(isFile(modeAfter) && { after }),
    };
    if (Object.keys(ids).length > 0) {
      changes.push({ path: fields[at + 1] ?? '', ...ids });
    }
  }
  return changes;
}

export interface ShownContents {
  contents: string;
  omitted?: 'binary' | 'too-large';
}

/** The text of a content, or why it is not shown. */
export async function contentsOf(gitDir: string, id: string | undefined): Promise<ShownContents> {
  if (id === undefined) {
    return { contents: '' };
  }
  const size = Number(String(await git({ gitDir }, ['cat-file', '-s', id])).trim());
  if (size > maxShown) {
    return { contents: '', omitted: 'too-large' };
  }
  const bytes = await git({ gitDir }, ['cat-file', 'blob', id]);
  const text = bytes.toString('utf8');
  return text.includes('\0') || !Buffer.from(text).equals(bytes)
    ? { contents: '', omitted: 'binary' }
    : { contents: text };
}
