import { randomUUID } from 'node:crypto';
import { toInt } from './int';

/** What JSON can hold, with integers beyond 2^53 as bigints. */
export type Json =
  null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json | undefined };

const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Nobody outside this process can write a text that starts with it. */
const bigintMark = `${randomUUID()}:`;

/**
 * `JSON.parse` that keeps integers exact (`Int`).
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  const marked = text.replace(tokens, (token) =>
    token.length > 15 && /^-?\d+$/.test(token) && !/^-?0\d/.test(token) ? `"${bigintMark}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(bigintMark) ? toInt(BigInt(value.slice(bigintMark.length))) : value,
  ) as unknown;
}

/** `JSON.stringify` that writes bigints as plain numbers and the keys in the order they are in. */
export function exactJson(value: Json): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(exactJson).join(',')}]`;
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${exactJson(member)}`],
  );
  return `{${members.join(',')}}`;
}
