import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { linksOf, pages, read, root, targetOf, withoutCode } from './pages';

const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^\.|^(dist|node_modules|secrets|repositories)$/.test(entry.name))
  .map(({ name }) => name);

/** Every file and folder of the project, from its root. */
const entries = folders.flatMap((folder) => [
  folder,
  ...readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
]);

/** Whether a path is there; `*` stands for any part of a name, and sources may be named without their ending. */
function isThere(path: string, ending = '(?:(?:\\.test)?\\.ts)?'): boolean {
  const pattern = path.replace(/\/$/, '').replace(/\./g, '\\.').replace(/\*/g, '[^/]*');
  const named = new RegExp(`^${pattern}${ending}$`);
  return entries.some((entry) => named.test(entry));
}

/** Paths of the project in backticks: what begins with one of its folders, and every source. */
const pathsIn = (text: string): string[] =>
  [...withoutCode(text).matchAll(/`([\w-]+)(\/[\w./*-]*)`/g)]
    .filter(([, folder = '', rest = '']) => folders.includes(folder) || /\.[mc]?[jt]s$/.test(rest))
    .map(([, folder = '', rest = '']) => folder + rest);

/** The tests that commands of a page run; jest takes paths by their beginning. */
const testsIn = (text: string): string[] =>
  [...text.matchAll(/npx jest ([^\n`]+)/g)]
    .flatMap(([, words = '']) => words.split(' '))
    .filter((word) => folders.includes(word.split('/')[0] ?? ''));

// The changelog names files that were there.
describe.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s', (page) => {
  it('names files and folders that there are', () => {
    expect(pathsIn(read(page)).filter((path) => !isThere(path))).toEqual([]);
    expect(testsIn(read(page)).filter((path) => !isThere(path, '.*'))).toEqual([]);
  });

  it('names functions, types and constants that are in the file it links', () => {
    const named = linksOf(page).flatMap((link) => {
      const [, name] = /^`([A-Za-z_]\w*)`$/.exec(link.label) ?? [];
      return name !== undefined && /\.[mc]?[jt]s$/.test(link.target) ? [{ name, file: targetOf(page, link) }] : [];
    });
    expect(named.filter(({ name, file }) => !new RegExp(`\\b${name}\\b`).test(read(file)))).toEqual([]);
  });
});
