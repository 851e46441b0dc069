import type { DiffFile, DiffHunk, FileDiff } from '../../../contracts/runs/diff';
import type { GitRunner } from '../run-git';
import { fitHunks, parseHunks, wholeFile } from './hunks';
import { languageOf } from './language';

/** Files that are larger on either side are not shown by lines, in bytes. */
const maxFileBytes = 2 * 1_048_576;

const command = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--text', '--unified=3', '--no-renames'];

/** How large objects are, by name; one that is not there is not in it. */
export async function objectSizes(objects: GitRunner, names: readonly string[]): Promise<Map<string, number>> {
  if (names.length === 0) {
    return new Map();
  }
  const input = names.map((name) => `${name}\n`).join('');
  const { stdout } = await objects(['cat-file', '--batch-check'], { cwd: '', input });
  const found = stdout.split('\n').flatMap((line) => {
    const [, name, size] = /^([0-9a-f]{40,64}) blob (\d+)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, Number(size)] as const];
  });
  return new Map(found);
}

/** The content objects of a file that its lines are read from. */
const contentObjects = ({ oldObject, newObject }: DiffFile): string[] =>
  [oldObject, newObject].filter((name) => name !== undefined);

/**
 * The lines in which files differ, as far as they fit together; the first one is returned in any case.
 *
 * @returns the files that fit, each with its lines
 */
export async function fileDiffs(objects: GitRunner, files: readonly DiffFile[], maxBytes: number): Promise<FileDiff[]> {
  const shown = files.filter((file) => !file.binary && !file.submodule && !file.cut);
  const sizes = await objectSizes(objects, shown.flatMap(contentObjects));
  const diffs: FileDiff[] = [];
  let left = maxBytes;
  for (const file of files) {
    const tooLarge = shown.includes(file) && contentObjects(file).some((name) => (sizes.get(name) ?? 0) > maxFileBytes);
    const hunks = shown.includes(file) && !tooLarge ? await hunksOf(objects, file) : [];
    const fitting = fitHunks(hunks, left);
    const overhead = 500 + 4 * file.path.length;
    if (diffs.length > 0 && (fitting.cut || fitting.used + overhead > left)) {
      break;
    }
    left -= fitting.used + overhead;
    const cut = file.cut ?? (tooLarge ? 'file-too-large' : fitting.cut ? 'too-many-lines' : undefined);
    diffs.push({ ...file, ...(cut && { cut }), hunks: fitting.hunks, language: languageOf(file.path) });
  }
  return diffs;
}

async function hunksOf(objects: GitRunner, { oldObject, newObject }: DiffFile): Promise<DiffHunk[]> {
  if (oldObject === newObject) {
    return [];
  }
  if (oldObject !== undefined && newObject !== undefined) {
    return parseHunks((await objects([...command, oldObject, newObject], { cwd: '' })).stdout);
  }
  const { stdout } = await objects(['cat-file', 'blob', newObject ?? oldObject ?? ''], { cwd: '' });
  return wholeFile(stdout, newObject === undefined ? 'delete' : 'add');
}
