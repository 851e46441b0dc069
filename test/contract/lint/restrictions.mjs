/**
 * Reads `[{ path, code }]` from standard input, and writes for each what the import rules of eslint.config.mjs, and those
 * of syntax, report of such a file. A process of its own, because the configuration is an ES module.
 */
import { text } from 'node:stream/consumers';
import { ESLint, Linter } from 'eslint';
import tseslint from 'typescript-eslint';

const names = ['@typescript-eslint/no-restricted-imports', 'no-restricted-syntax'];
const eslint = new ESLint();
const linter = new Linter();

async function reports({ path, code }) {
  const { rules } = await eslint.calculateConfigForFile(path);
  const config = {
    files: ['**/*.ts'],
    languageOptions: { parser: tseslint.parser },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: Object.fromEntries(names.map((name) => [name, rules[name] ?? 'off'])),
  };
  return linter.verify(code, [config], { filename: path }).map(({ message }) => message);
}

const snippets = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await Promise.all(snippets.map(reports))));
