import { type Int, parseInt64 } from '../int';
import type { Steps } from '../steps';
import type { Argument, Call, Operator, Value } from './ast';
import { parseError } from './errors';
import { Scanner } from './scanner';

const callName = /^[A-Za-z][A-Za-z0-9]*$/;
const fieldName = /^[A-Za-z][A-Za-z0-9_-]*$/;
const reservedName = /^_(row|col|start|end|timestamp|field)$/;
const integer = /^-?\d+$/;
const fraction = /^-?(\d+\.\d*|\.\d+)$/;
const word = /^[A-Za-z0-9_:-]+$/;

/** Deeper queries are refused, before they reach the end of the stack. */
const deepest = 200;

/** A call with more parts is refused: others wait while it is read, a few hundredths of a second. */
const mostParts = 50_000;

/** How many values without a name a call takes at most. Every other call takes none. */
const positionals = new Map([
  ['Set', 2],
  ['Clear', 1],
  ['SetColumnAttrs', 1],
  ['SetRowAttrs', 2],
  ['TopN', 1],
  ['Rows', 1],
  ['Range', 2],
]);

/** Calls with a form of their own, in which a comma before the bracket is a mistake. */
const strict = new Set(['Set', 'SetRowAttrs', 'SetColumnAttrs', 'Clear', 'ClearRow', 'Store', 'TopN', 'Rows', 'Range']);

/**
 * Parses a query text: any number of calls. Both revisions of the language have this shape; which calls there are is
 * not decided here.
 *
 * @throws QueryError with line and column
 */
export function* parse(text: string): Steps<Call[]> {
  const scanner = new Scanner(text);
  const calls: Call[] = [];
  scanner.skipSpace();
  while (!scanner.isAtEnd) {
    calls.push(new Parser(scanner).call());
    yield;
  }
  return calls;
}

class Parser {
  private depth = 0;
  private parts = 0;

  constructor(private readonly scanner: Scanner) {}

  call(): Call {
    const at = this.scanner.at;
    const name = this.scanner.run();
    if (!callName.test(name)) {
      this.scanner.at = at;
      throw this.scanner.unexpected('the name of a call');
    }
    this.scanner.skipSpace();
    return this.callNamed(name, at);
  }

  private countPart(at: number): void {
    if ((this.parts += 1) > mostParts) {
      throw parseError(
        `a call has more than ${mostParts} arguments, also in its calls and lists`,
        this.scanner.text,
        at,
      );
    }
  }

  private callNamed(name: string, at: number): Call {
    const { scanner } = this;
    if ((this.depth += 1) > deepest) {
      throw parseError(`calls are nested deeper than ${deepest}`, scanner.text, at);
    }
    scanner.expect('(');
    const positional: Call['positional'][number][] = [];
    const children: Call[] = [];
    const args = new Map<string, Argument>();
    while (scanner.peek() !== ')') {
      const start = scanner.at;
      this.countPart(start);
      const item = this.item(args);
      if (item) {
        const { value } = item;
        if (isChild(value)) {
          if (args.size > 0) {
            throw parseError('calls come before named arguments', scanner.text, start);
          }
          children.push(value);
        } else {
          positional.push({ value, at: start });
        }
      }
      if (!scanner.accept(',')) {
        break;
      }
      if (scanner.peek() === ')' && strict.has(name)) {
        throw scanner.unexpected('an argument');
      }
    }
    if (scanner.peek() !== ')') {
      throw scanner.unexpected('"," or ")"');
    }
    scanner.expect(')');
    this.depth -= 1;
    const extra = positional[positionals.get(name) ?? 0];
    if (extra) {
      throw parseError(`${name} takes no value without a name here`, scanner.text, extra.at);
    }
    return { name, at, positional, children, args };
  }

  /** One thing between commas: a named argument, which goes to `args`, or a value or call without a name. */
  private item(args: Map<string, Argument>): { value: Value } | undefined {
    const { scanner } = this;
    const at = scanner.at;
    const first = scanner.peek();
    if (first === '"' || first === "'") {
      return { value: this.quoted() };
    }
    const text = scanner.run();
    if (text === '') {
      throw scanner.unexpected('an argument');
    }
    scanner.skipSpace();
    if (scanner.peek() === '(') {
      return { value: this.callWithCheckedName(text, at) };
    }
    const operator = scanner.peekOperator();
    if (operator === '') {
      if (/^0\d/.test(text)) {
        throw parseError('a number begins with 0', scanner.text, at);
      }
      return { value: this.classify(text, at) };
    }
    if (integer.test(text)) {
      const { name, argument } = this.chain(text, at);
      this.define(args, name, argument);
      return undefined;
    }
    this.checkFieldName(text, at);
    scanner.operator();
    const value = this.value();
    if (isChild(value) && operator !== '=') {
      throw parseError('a call cannot be compared', scanner.text, at);
    }
    this.define(args, text, { operator: operator as Operator, value, at });
    return undefined;
  }

  private define(args: Map<string, Argument>, name: string, argument: Argument): void {
    if (args.has(name)) {
      throw parseError(`${name} is given twice`, this.scanner.text, argument.at);
    }
    args.set(name, argument);
  }

  /** `low < field <= high`, after `low` was read. */
  private chain(low: string, at: number): { name: string; argument: Argument } {
    const { scanner } = this;
    const below = this.lessOperator();
    const nameAt = scanner.at;
    const name = scanner.run();
    this.checkFieldName(name, nameAt);
    scanner.skipSpace();
    const above = this.lessOperator();
    const highAt = scanner.at;
    const high = scanner.run();
    if (!integer.test(high)) {
      scanner.at = highAt;
      throw scanner.unexpected('an integer');
    }
    scanner.skipSpace();
    const value = [
      BigInt(this.integer(low, at)) + (below === '<' ? 1n : 0n),
      BigInt(this.integer(high, highAt)) - (above === '<' ? 1n : 0n),
    ].map((end) => parseInt64(end.toString()) ?? end);
    return { name, argument: { operator: 'between', value, at } };
  }

  private lessOperator(): string {
    const operator = this.scanner.peekOperator();
    if (operator !== '<' && operator !== '<=') {
      throw this.scanner.unexpected('"<" or "<="');
    }
    return this.scanner.operator();
  }

  private checkFieldName(name: string, at: number): void {
    if (!fieldName.test(name) && !reservedName.test(name)) {
      throw parseError(`${JSON.stringify(name)} is not the name of a field or an argument`, this.scanner.text, at);
    }
  }

  private quoted(): string {
    const text = this.scanner.quoted();
    this.scanner.skipSpace();
    return text;
  }

  private value(): Value {
    const { scanner } = this;
    if (!scanner.accept('[')) {
      return this.single();
    }
    const list: Value[] = [];
    while (scanner.peek() !== ']') {
      const at = scanner.at;
      this.countPart(at);
      const value = this.single();
      if (isChild(value)) {
        throw parseError('a list holds no calls', scanner.text, at);
      }
      list.push(value);
      if (!scanner.accept(',')) {
        break;
      }
      if (scanner.peek() === ']') {
        throw scanner.unexpected('a value');
      }
    }
    scanner.expect(']');
    return list;
  }

  private single(): Value {
    const { scanner } = this;
    const first = scanner.peek();
    if (first === '"' || first === "'") {
      return this.quoted();
    }
    const at = scanner.at;
    const text = scanner.run();
    if (text === '') {
      throw scanner.unexpected('a value');
    }
    scanner.skipSpace();
    return scanner.peek() === '(' ? this.callWithCheckedName(text, at) : this.classify(text, at);
  }

  private callWithCheckedName(name: string, at: number): Call {
    if (!callName.test(name)) {
      throw parseError(`${JSON.stringify(name)} is not the name of a call`, this.scanner.text, at);
    }
    return this.callNamed(name, at);
  }

  private integer(text: string, at: number): Int {
    const value = parseInt64(text.replace(/^(-?)0+(?=\d)/, '$1'));
    if (value === undefined) {
      throw parseError(`${text} does not fit 64 bits`, this.scanner.text, at);
    }
    return value;
  }

  private classify(text: string, at: number): Value {
    if (integer.test(text)) {
      return this.integer(text, at);
    }
    if (fraction.test(text)) {
      const value = Number(text);
      if (!Number.isFinite(value)) {
        throw parseError('a number is too large', this.scanner.text, at);
      }
      return { fraction: value };
    }
    if (text === 'null') {
      return null;
    }
    if (text === 'true') {
      return true;
    }
    if (text === 'false') {
      return false;
    }
    if (word.test(text)) {
      return { word: text };
    }
    throw parseError(`${JSON.stringify(text)} is neither a number nor a word`, this.scanner.text, at);
  }
}

const isChild = (value: Value): value is Call => typeof value === 'object' && value !== null && 'children' in value;
