import { basename, extname } from 'node:path';

const byName: Record<string, string> = { dockerfile: 'dockerfile', makefile: 'makefile' };

const byExtension: Record<string, string> = Object.fromEntries(
  Object.entries({
    c: 'c h',
    cpp: 'cc cpp cxx hh hpp hxx',
    csharp: 'cs',
    css: 'css',
    go: 'go',
    graphql: 'graphql gql',
    html: 'html htm',
    java: 'java',
    javascript: 'js cjs mjs jsx',
    json: 'json jsonc',
    kotlin: 'kt kts',
    less: 'less',
    lua: 'lua',
    markdown: 'md markdown',
    php: 'php',
    python: 'py pyi',
    ruby: 'rb',
    rust: 'rs',
    scala: 'scala',
    scss: 'scss',
    shell: 'sh bash zsh',
    sql: 'sql',
    swift: 'swift',
    toml: 'toml',
    typescript: 'ts cts mts tsx',
    vue: 'vue',
    xml: 'xml svg',
    yaml: 'yml yaml',
  }).flatMap(([language, extensions]) => extensions.split(' ').map((extension) => [extension, language])),
);

/** The language of a file by its name, for who colours it; `text` when it is none that is known. */
export function languageOf(path: string): string {
  const name = basename(path).toLowerCase();
  const extension = extname(name).slice(1);
  return lookUp(byName, name) ?? lookUp(byExtension, extension) ?? 'text';
}

const lookUp = (table: Record<string, string>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
