import { printable } from './printable';

const longestRun = (text: string): number => Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));

/** Any text as code on one line of markdown, in more backticks than it holds: it cannot pass for something else. */
export function inlineCode(value: string): string {
  const text = printable(value).replaceAll('\n', ' ');
  const fence = '`'.repeat(longestRun(text) + 1);
  const edge = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${edge}${text}${edge}${fence}`;
}

/** Any text as a block of code in markdown, between fences of more backticks than it holds. */
export function codeBlock(value: string): string {
  const text = printable(value);
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}\n${text}\n${fence}`;
}
