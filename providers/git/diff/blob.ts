import type { FileContent } from '../../../contracts/runs/diff';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { objectSizes } from './file-diff';
import type { ResolvedRevision } from './revisions';

/** The largest file that is returned, in bytes. */
export const maxBlobBytes = 1_048_576;

/** Reads a file at a revision; of a symbolic link, where it leads to. @throws GitError `unknown-path`, `too-large` */
export async function readBlob(
  objects: GitRunner,
  { tree, oversized }: ResolvedRevision,
  path: string,
): Promise<FileContent> {
  const oversize = oversized.get(path);
  if (oversize !== undefined) {
    throw tooLarge(path, oversize);
  }
  const env = { GIT_LITERAL_PATHSPECS: '1' };
  const { stdout } = await objects(['ls-tree', '-z', '--full-tree', tree, '--', path], { cwd: '', env });
  // `<mode> <type> <object>\t<path>`
  const [facts = '', name] = (stdout.split('\0')[0] ?? '').split(/\t(.*)/s);
  const [mode = '', type = '', object = ''] = facts.split(' ');
  if (name !== path || type !== 'blob') {
    const kinds: Record<string, string> = { tree: 'is a directory', commit: 'is a repository of its own' };
    throw new GitError('unknown-path', `${JSON.stringify(path)} ${kinds[type] ?? 'is not in this revision'}.`);
  }
  const size = (await objectSizes(objects, [object])).get(object) ?? 0;
  if (size > maxBlobBytes) {
    throw tooLarge(path, size);
  }
  const content = await objects(['cat-file', 'blob', object], { cwd: '', encoding: 'latin1' });
  return { content: Buffer.from(content.stdout, 'latin1').toString('base64'), object, mode };
}

const tooLarge = (path: string, size: number): GitError =>
  new GitError('too-large', `${JSON.stringify(path)} has ${size} bytes, of ${maxBlobBytes} that are read.`);
