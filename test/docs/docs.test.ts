import { existsSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json';
import { docsPages, linksOf, pages, read, root, targetOf, withoutCode } from './pages';

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

describe.each(pages)('%s', (page) => {
  it('has links that lead somewhere', () => {
    const broken = linksOf(page).filter((link) => {
      const linked = targetOf(page, link);
      const [, anchor] = link.target.split('#');
      return !existsSync(join(root, linked)) || (anchor !== undefined && !anchorsOf(linked).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  it('names scripts and programs that there are', () => {
    const text = read(page);
    const scripts = [...text.matchAll(/npm run ([a-z0-9:]+)/g)].map(([, name = '']) => name);
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
    const built = [...text.matchAll(/node dist\/([\w/.-]+)\.js/g)].map(([, path = '']) => `${path}.ts`);
    expect(built.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

it('every page is reachable by following links from the README', () => {
  const reached = new Set(['README.md']);
  // A set is iterated with what is added to it meanwhile.
  for (const page of reached) {
    if (page.endsWith('.md')) {
      for (const link of linksOf(page)) {
        reached.add(targetOf(page, link));
      }
    }
  }
  expect(docsPages.filter((page) => !reached.has(page))).toEqual([]);
});

it('the tests that the page on security quotes are there', () => {
  const page = read('docs/operate/security.md');
  const files = new Map([...page.matchAll(/^\[([\w-]+)\]: (?:\.\.\/)+(\S+)$/gm)].map(([, name, file]) => [name, file]));
  const references = [...page.matchAll(/(?:"([^"]+)" )?\[([\w-]+)\](?![(:\[])/g)];
  const missing = references.filter(([, title = '', name]) => {
    const file = files.get(name);
    return file === undefined || !existsSync(join(root, file)) || !read(file).includes(title);
  });
  expect(missing.map(([text]) => text)).toEqual([]);
  expect(references.length).toBeGreaterThan(40);
});
