import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = join(__dirname, '..', '..');

/** Every file of the repository that is tracked, or would be, as a path below its root. */
export const files: string[] = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(root, file)));

/** Names of what is directly in a folder, `''` for the root. */
export function entriesOf(folder: string): string[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  const below = files.filter((file) => file.startsWith(prefix));
  return [...new Set(below.map((file) => file.slice(prefix.length).split('/')[0] ?? ''))];
}

/** Names of the folders directly in a folder. */
export const foldersIn = (folder: string): string[] =>
  entriesOf(folder).filter((name) => !files.includes(`${folder}/${name}`));

/** Every folder that has files in it, with their names. */
export function filesByFolder(): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const file of files) {
    const folder = dirname(file);
    folders.set(folder, [...(folders.get(folder) ?? []), file.slice(folder.length + 1)]);
  }
  return folders;
}
