import type { DiffFile } from '../../../contracts/runs/diff';
import { compact } from '../../../platform/json/compact';
import type { GitRunner } from '../run-git';
import type { ResolvedRevision } from './revisions';

const command = ['diff-tree', '-r', '-z', '--raw', '--numstat', '-M', '-l1000', '--no-abbrev'];
const plain = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=none'];

const submoduleMode = '160000';

interface RawRecord {
  oldMode: string;
  newMode: string;
  oldObject: string;
  newObject: string;
  letter: string;
  path: string;
  oldPath?: string;
}

/** The files in which two revisions differ, sorted by path. A file that was moved is one, with its former path. */
export async function changedFiles(
  objects: GitRunner,
  { from, to }: { from: ResolvedRevision; to: ResolvedRevision },
): Promise<DiffFile[]> {
  if (from.tree === to.tree) {
    return [];
  }
  const { stdout } = await objects([...command, ...plain, from.tree, to.tree], { cwd: '' });
  const fields = stdout.split('\0');
  const { records, at } = parseRaw(fields);
  const counts = parseCounts(fields.slice(at));
  const files = records.map((record, index) => toFile(record, counts[index], { from, to }));
  return files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** `:100644 100644 <object> <object> M`, and a path; of a renamed file two. */
function parseRaw(fields: readonly string[]): { records: RawRecord[]; at: number } {
  const records: RawRecord[] = [];
  let at = 0;
  while (fields[at]?.startsWith(':')) {
    const [oldMode = '', newMode = '', oldObject = '', newObject = '', status = ''] = (fields[at] ?? '')
      .slice(1)
      .split(' ');
    const letter = status.charAt(0);
    const [first = '', second = ''] = fields.slice(at + 1, at + 3);
    const isRenamed = letter === 'R';
    const paths = isRenamed ? { path: second, oldPath: first } : { path: first };
    records.push({ oldMode, newMode, oldObject, newObject, letter, ...paths });
    at += isRenamed ? 3 : 2;
  }
  return { records, at };
}

/** Added and deleted lines; `null` for content that has none. */
type Count = { additions: number; deletions: number } | null;

/** `1\t2\t<path>`; of a renamed file `1\t2\t`, and two paths. Git lists them in the order of the records. */
function parseCounts(fields: readonly string[]): Count[] {
  const counts: Count[] = [];
  for (let at = 0; at < fields.length;) {
    const match = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at] ?? '');
    if (!match) {
      at += 1;
      continue;
    }
    const [, additions, deletions, path] = match;
    counts.push(additions === '-' ? null : { additions: Number(additions), deletions: Number(deletions) });
    at += path === '' ? 3 : 1;
  }
  return counts;
}

const statuses: Record<string, DiffFile['status']> = { A: 'added', D: 'deleted', R: 'renamed' };

function toFile(
  { oldMode, newMode, oldObject, newObject, letter, path, oldPath }: RawRecord,
  count: Count | undefined,
  { from, to }: { from: ResolvedRevision; to: ResolvedRevision },
): DiffFile {
  const isOversized = from.oversized.has(oldPath ?? path) || to.oversized.has(path);
  const isSubmodule = oldMode === submoduleMode || newMode === submoduleMode;
  const { additions, deletions } = (isOversized || isSubmodule ? null : count) ?? { additions: 0, deletions: 0 };
  return {
    path,
    status: statuses[letter] ?? 'modified',
    additions,
    deletions,
    binary: count === null,
    ...compact({
      oldPath,
      oldMode: present(oldMode),
      newMode: present(newMode),
      oldObject: present(oldObject),
      newObject: present(newObject),
      submodule: isSubmodule || undefined,
      cut: isOversized ? ('file-too-large' as const) : undefined,
    }),
  };
}

/** Git writes nothing but zeros for what is not there. */
const present = (text: string): string | undefined => (/^0+$/.test(text) ? undefined : text);
