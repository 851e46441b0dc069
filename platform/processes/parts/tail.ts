import { readFile } from 'node:fs/promises';

/** The last lines of a log file, each indented and ended, to be put into an error; empty when there is none. */
export async function tail(file: string, lines = 15): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .slice(-lines)
    .map((line) => `  | ${line}\n`)
    .join('');
}
