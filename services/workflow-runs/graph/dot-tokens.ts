import { GraphError } from './graph-error';

/** One word of a text in the DOT language, and where it begins. */
export interface Token {
  /** `id` is a name or number without quotes, `text` a quoted string, `end` what follows the last word. */
  kind: 'id' | 'text' | 'sign' | 'end';
  /** Without quotes; of a `sign`, the sign. */
  value: string;
  line: number;
  column: number;
}

const ignored = /\s+|\/\/.*|\/\*[^]*?\*\/|^#.*/my;
const signs = /->|--|[{}[\];,=:+]/y;
/** As the DOT language has it: any character beyond ASCII may be in a name. */
const name = /[A-Za-z_\u0080-\u{10FFFF}][\w\u0080-\u{10FFFF}]*/uy;
const numeral = /-?(?:\.\d+|\d+(?:\.\d*)?)(?![\w.\u0080-\u{10FFFF}])/uy;
const quoted = /"((?:[^"\\]|\\[^])*)"/y;

export type Place = Pick<Token, 'line' | 'column'>;

export const placeOf = ({ line, column }: Place): string => `line ${line}, column ${column}`;

/** @throws GraphError */
export function unreadable(problem: string, at: Place): never {
  throw new GraphError([`The graph cannot be read: ${problem} (${placeOf(at)}).`]);
}

/** The words of a text, one by one. @throws GraphError where there is none */
export function* tokensOf(source: string): Generator<Token, never> {
  // A byte order mark is no part of the text.
  let at = source.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  let lineStart = at;

  /** What a pattern matches here. */
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source) ?? undefined;
  };
  const advance = (text: string): void => {
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) {
      line += 1;
      lineStart = at + end + 1;
    }
    at += text.length;
  };
  const place = () => ({ line, column: at - lineStart + 1 });

  for (;;) {
    for (let skipped = match(ignored); skipped; skipped = match(ignored)) {
      advance(skipped[0]);
    }
    const here = place();
    if (at >= source.length) {
      yield { kind: 'end', value: 'the end of the text', ...here };
      continue;
    }
    const sign = match(signs);
    const plain = sign ? undefined : (match(name) ?? match(numeral));
    const text = sign || plain ? undefined : match(quoted);
    const found = sign ?? plain ?? text;
    if (!found) {
      return unreadable(problemAt(source, at), here);
    }
    advance(found[0]);
    if (text) {
      yield { kind: 'text', value: unquoted(text[1] ?? ''), ...here };
    } else {
      yield { kind: sign ? 'sign' : 'id', value: found[0], ...here };
    }
  }
}

/** Of the escapes the language itself knows two: a quote, and a line that continues on the next one. */
const unquoted = (text: string): string =>
  text.replace(/\\(\r?\n|[^])/g, (escape, escaped: string) =>
    escaped === '"' ? '"' : escaped.endsWith('\n') ? '' : escape,
  );

function problemAt(source: string, at: number): string {
  if (source[at] === '<') {
    return 'HTML strings are not read; write the text in quotes';
  }
  if (source[at] === '"') {
    return 'a quoted text has no end';
  }
  if (/^-?\.?\d/.test(source.slice(at, at + 3))) {
    return 'a name that begins like a number needs quotes';
  }
  return source.startsWith('/*', at)
    ? 'a comment has no end'
    : `${JSON.stringify(String.fromCodePoint(source.codePointAt(at) ?? 0))} means nothing here`;
}
