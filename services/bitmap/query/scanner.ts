import { isWellFormed } from '../../../platform/text/well-formed';
import { parseError, type QueryError } from './errors';

const run = /[A-Za-z0-9_:.-]+/y;
const space = /[ \t\r\n]*/y;
const operator = /><|<=|>=|==|!=|[<>=]/y;
/** What stands for itself between quotes of either kind. */
const inDoubleQuotes = /[^"\\]*/y;
const inSingleQuotes = /[^'\\]*/y;
/** Those of JSON, and the other quote. */
const escapes = new Map(
  Object.entries({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '/': '/', '"': '"', "'": "'", '\\': '\\' }),
);

/** Reads a query text piece by piece. */
export class Scanner {
  at = 0;

  constructor(readonly text: string) {}

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0] ?? '';
  }

  private take(token: string): string {
    this.at += token.length;
    return token;
  }

  skipSpace(): void {
    this.take(this.match(space));
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  peek(): string {
    return this.text.charAt(this.at);
  }

  /** Takes this character, with the space after it, if it is the next one. */
  accept(character: string): boolean {
    if (this.peek() !== character) {
      return false;
    }
    this.at += 1;
    this.skipSpace();
    return true;
  }

  expect(character: string): void {
    if (!this.accept(character)) {
      throw this.unexpected(`"${character}"`);
    }
  }

  /** Letters, digits and what else numbers, names, times and words are made of; empty when there are none. */
  run(): string {
    return this.take(this.match(run));
  }

  operator(): string {
    const token = this.take(this.match(operator));
    if (token) {
      this.skipSpace();
    }
    return token;
  }

  peekOperator(): string {
    return this.match(operator);
  }

  /** A text in quotes, with backslash escapes; the next character is its quote. */
  quoted(): string {
    const start = this.at;
    const quote = this.peek();
    const inside = quote === '"' ? inDoubleQuotes : inSingleQuotes;
    this.at += 1;
    let text = this.take(this.match(inside));
    while (this.peek() === '\\') {
      this.at += 1;
      text += this.escaped() + this.take(this.match(inside));
    }
    if (this.peek() === quote) {
      this.at += 1;
      if (!isWellFormed(text)) {
        throw parseError('this text has half of a character', this.text, start);
      }
      return text;
    }
    throw parseError('this text has no closing quote', this.text, start);
  }

  private escaped(): string {
    const code = /^u[0-9a-fA-F]{4}/.exec(this.text.slice(this.at, this.at + 5))?.[0];
    if (code) {
      this.at += code.length;
      return String.fromCharCode(parseInt(code.slice(1), 16));
    }
    const character = escapes.get(this.peek());
    if (character === undefined) {
      throw parseError('unknown escape', this.text, this.at - 1);
    }
    this.at += 1;
    return character;
  }

  unexpected(expected: string): QueryError {
    const actual = this.isAtEnd ? 'the end' : JSON.stringify(String.fromCodePoint(this.text.codePointAt(this.at) ?? 0));
    return parseError(`expected ${expected}, found ${actual}`, this.text, this.at);
  }
}
