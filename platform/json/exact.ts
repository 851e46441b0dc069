import { isInteger, parse, stringify } from 'lossless-json';

/** Every number represents fewer digits exactly. */
const manyDigits = /\d{16}/;

const exactNumber = (text: string): bigint | number => {
  const value = Number(text);
  return isInteger(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
};

/**
 * Reads JSON without losing digits: an integer that a number cannot represent exactly becomes a bigint.
 *
 * @throws SyntaxError, or RangeError for what is nested too deeply
 */
export const parseExactJson = (text: string): unknown =>
  manyDigits.test(text) ? parse(text, undefined, exactNumber) : JSON.parse(text);

/** `JSON.stringify` that writes bigints as plain numbers. */
export const exactJson = (value: unknown): string => stringify(value) ?? 'null';
