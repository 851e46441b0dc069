import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The root of the project. */
export const root = resolve(__dirname, '../..');

const under = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

/** The pages under `docs`, from the root of the project. */
export const docsPages = under('docs');

/** Every page that people read. */
export const pages = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...docsPages,
  ...under('examples'),
];

export const read = (page: string): string => readFileSync(join(root, page), 'utf8');

export const withoutCode = (text: string): string => text.replace(/```[^]*?```/g, '');

export interface Link {
  label: string;
  target: string;
}

/** Links that stay within the project. */
export const linksOf = (page: string): Link[] =>
  [...withoutCode(read(page)).matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)]
    .map(([, label = '', target = '']) => ({ label, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target));

/** The file that a link leads to, from the root of the project. */
export function targetOf(page: string, { target }: Link): string {
  const [path = ''] = target.split('#');
  return path === '' ? page : relative(root, resolve(root, dirname(page), path));
}
