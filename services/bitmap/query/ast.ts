import type { Fraction } from '../engine/attributes';
import type { Int } from '../int';

/** A word without quotes; where a text is wanted it is one. */
export interface Word {
  readonly word: string;
}

/** What stands after an operator, or alone where a call takes values without names. */
export type Value = null | boolean | Int | Fraction | string | Word | Call | readonly Value[];

export type Operator = '=' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '><';

/** `name OP value`; `between` is `low < name < high`, as the inclusive ends it means. */
export interface Argument {
  operator: Operator | 'between';
  value: Value;
  /** Where it begins: characters from the start of the query text. */
  at: number;
}

export interface Call {
  name: string;
  at: number;
  /** Values without a name, which only some calls take. */
  positional: readonly { value: Value; at: number }[];
  children: readonly Call[];
  args: ReadonlyMap<string, Argument>;
}

export const isWord = (value: Value | undefined): value is Word =>
  typeof value === 'object' && value !== null && 'word' in value;

/** The text of a quoted string or a word. */
export const textOf = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value : isWord(value) ? value.word : undefined;
