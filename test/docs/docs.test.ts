import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import manifest from '../../package.json';

const root = resolve(__dirname, '../..');
const under = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const pages = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md', ...under('docs'), ...under('examples')];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');

const withoutCode = (text: string): string => text.replace(/```[^]*?```/g, '');

/** The anchors of a page's headings, as GitHub and most renderers make them. */
function anchorsOf(page: string): string[] {
  const headings = [...withoutCode(read(page)).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replace(/ /g, '-'),
  );
}

/** Targets of links that stay within the project. */
const linksOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

describe.each(pages)('%s', (page) => {
  it('has links that lead somewhere', () => {
    const broken = linksOf(page).filter((target) => {
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? page : relative(root, resolve(root, dirname(page), path));
      return !existsSync(join(root, linked)) || (anchor !== undefined && !anchorsOf(linked).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  it('names scripts and programs that there are', () => {
    const text = read(page);
    const scripts = [...text.matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name);
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
    const built = [...text.matchAll(/node dist\/([\w/.-]+)\.js/g)].map(([, path = '']) => `${path}.ts`);
    expect(built.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

it('every page is reachable from the README', () => {
  const linked = new Set(linksOf('README.md').map((target) => target.split('#')[0]));
  expect(under('docs').filter((page) => !linked.has(page))).toEqual([]);
});

it('the tests that the page on security quotes are there', () => {
  const page = read('docs/security.md');
  const files = new Map([...page.matchAll(/^\[([\w-]+)\]: \.\.\/(\S+)$/gm)].map(([, name, file]) => [name, file]));
  const references = [...page.matchAll(/(?:"([^"]+)" )?\[([\w-]+)\](?![(:\[])/g)];
  const missing = references.filter(([, title = '', name]) => {
    const file = files.get(name);
    return file === undefined || !existsSync(join(root, file)) || !read(file).includes(title);
  });
  expect(missing.map(([text]) => text)).toEqual([]);
  expect(references.length).toBeGreaterThan(40);
});
