import type { Comparison, Condition, Expression } from './graph';
import { valueAt, valueText } from './values';

/** A condition may have this much, and parentheses within parentheses. */
const limits = { characters: 10_000, depth: 20 };

/** What a condition consists of; longer signs before those they begin with. */
const token = /\s*(?:(?<sign>&&|\|\||!=|<=|>=|[=<>!()])|(?<quoted>"[^"]*")|(?<bare>[^\s"&|()!=<>]+))/uy;
const named = /^([\p{L}_][\p{L}\p{M}\p{N}_-]*)((?:\.[\p{L}\p{M}\p{N}_-]+)*)$/u;
const decimal = /^-?\d{1,300}(?:\.\d{1,300})?$/;
/** As JSON has very small and very large numbers, and programs print them. */
const withExponent = /^-?\d{1,300}(?:\.\d{1,300})?e[+-]?\d{1,3}$/i;
const comparing: ReadonlySet<string> = new Set(['=', '!=', '<', '<=', '>', '>=', 'contains']);
const numeric: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/**
 * Reads a condition such as `outcome=success && (test_exit_code > 1 || !review_output.approved)`.
 *
 * @returns `undefined` when it cannot be read
 */
export function parseCondition(text: string): Condition | undefined {
  if (text.length > limits.characters) {
    return undefined;
  }
  const reader = new ConditionReader(text);
  const expression = reader.whole();
  return expression && ('all' in expression ? expression.all : [expression]);
}

/** Reads from left to right: `!` binds more closely than `&&`, and that more than `||`. */
class ConditionReader {
  #at = 0;

  constructor(private readonly text: string) {}

  whole(): Expression | undefined {
    const expression = this.#anyOf(0);
    return this.text.slice(this.#at).trim() === '' ? expression : undefined;
  }

  #anyOf(depth: number): Expression | undefined {
    return this.#joined('||', () => this.#joined('&&', () => this.#single(depth), 'all'), 'any');
  }

  #joined(sign: string, next: () => Expression | undefined, as: 'all' | 'any'): Expression | undefined {
    const parts: Expression[] = [];
    do {
      const part = next();
      if (!part) {
        return undefined;
      }
      parts.push(part);
    } while (this.#take(sign));
    return parts.length === 1 ? parts[0] : as === 'all' ? { all: parts } : { any: parts };
  }

  #single(depth: number): Expression | undefined {
    if (depth > limits.depth) {
      return undefined;
    }
    if (this.#take('!')) {
      const negated = this.#single(depth + 1);
      return negated && { not: negated };
    }
    if (this.#take('(')) {
      const inner = this.#anyOf(depth + 1);
      return this.#take(')') ? inner : undefined;
    }
    return this.#comparison();
  }

  #comparison(): Comparison | undefined {
    const [, name, fields = ''] = named.exec(this.#next()?.bare ?? '') ?? [];
    if (name === undefined) {
      return undefined;
    }
    const path = fields === '' ? {} : { path: fields.slice(1).normalize('NFC').split('.') };
    const subject = { name: name.normalize('NFC'), ...path };
    const before = this.#at;
    const operator = this.#next();
    const sign = operator?.sign ?? operator?.bare ?? '';
    if (!comparing.has(sign)) {
      this.#at = before;
      return { ...subject, operator: 'is', value: '' };
    }
    const value = this.#value();
    if (value === undefined || (numeric.has(sign) && !decimal.test(value))) {
      return undefined;
    }
    return { ...subject, operator: sign as Comparison['operator'], value };
  }

  #value(): string | undefined {
    const { quoted, bare } = this.#next() ?? {};
    return quoted === undefined ? bare : quoted.slice(1, -1);
  }

  #take(sign: string): boolean {
    const before = this.#at;
    if (this.#next()?.sign === sign) {
      return true;
    }
    this.#at = before;
    return false;
  }

  #next(): { sign?: string; quoted?: string; bare?: string } | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.text);
    if (found) {
      this.#at = token.lastIndex;
    }
    return found?.groups;
  }
}

type Values = Readonly<Record<string, unknown>>;

/** What runs of earlier versions do not read in values; each is called only where one is compared. */
export interface ReadsValues {
  /** Whether a value such as `1e-7` is a number. */
  exponents: () => boolean;
  /** Whether `contains` compares each item of a list, and not the text of the whole list. */
  items: () => boolean;
}

const readsAll: ReadsValues = { exponents: () => true, items: () => true };

/** Whether all of a condition holds for the values of a run. */
export const holds = (condition: Condition, values: Values, reads: ReadsValues = readsAll): boolean =>
  condition.every((expression) => isTrue(expression, values, reads));

function isTrue(expression: Expression, values: Values, reads: ReadsValues): boolean {
  if ('all' in expression) {
    return holds(expression.all, values, reads);
  }
  if ('any' in expression) {
    return expression.any.some((each) => isTrue(each, values, reads));
  }
  return 'not' in expression ? !isTrue(expression.not, values, reads) : compares(expression, values, reads);
}

function compares({ name, path = [], operator, value }: Comparison, values: Values, reads: ReadsValues): boolean {
  const found = valueAt(values, [name, ...path]);
  const actual = valueText(found);
  switch (operator) {
    case 'contains':
      return isPlainList(found) && reads.items()
        ? found.some((item) => valueText(item) === value)
        : actual.includes(value);
    case '=':
      return actual === value;
    case '!=':
      return actual !== value;
    case 'is':
      return !['', 'false', '0'].includes(actual);
    default:
      return isNumber(actual.trim(), reads) && ordered(Number(actual), operator, Number(value));
  }
}

/** A list without lists and objects, such as the options that were chosen. */
const isPlainList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every((item) => item === null || typeof item !== 'object');

const isNumber = (text: string, { exponents }: ReadsValues): boolean =>
  decimal.test(text) || (withExponent.test(text) && exponents());

function ordered(actual: number, operator: '<' | '<=' | '>' | '>=', value: number): boolean {
  if (operator === '<' || operator === '<=') {
    return actual < value || (operator === '<=' && actual === value);
  }
  return actual > value || (operator === '>=' && actual === value);
}
