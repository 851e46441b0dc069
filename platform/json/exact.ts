import { isInteger, parse, stringify } from 'lossless-json';

/** Numbers of fewer digits are exact, unless an exponent makes them too small. Texts that look like one only take longer to read. */
const mayBeInexact = /[\d.]{16}|\d[eE][-+]?\d/;

/** No integer that is taken anywhere is longer, and a bigint of a million digits takes a third of a second. */
const maxIntegerLength = 100;

/** Whether a number of JSON with a fraction or an exponent is an integer. */
function isIntegral(text: string): boolean {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let last = digits.length - 1;
  while (last >= 0 && !/[1-9]/.test(digits.charAt(last))) {
    last -= 1;
  }
  // The digits after the last one that is not 0 do not count; all of them are 0 where there is none.
  return last < 0 || last < whole.length + Number(exponent);
}

function exactNumber(text: string): bigint | number {
  const value = Number(text);
  if (isInteger(text)) {
    return Number.isSafeInteger(value) || text.length > maxIntegerLength ? value : BigInt(text);
  }
  return Number.isSafeInteger(value) && !isIntegral(text) ? Number.NaN : value;
}

/**
 * Reads JSON without losing digits: an integer that a number cannot represent exactly becomes a bigint, and a fraction that would be
 * rounded to an integer `NaN`, which is neither.
 *
 * @throws SyntaxError, or RangeError for what is nested too deeply
 */
export const parseExactJson = (text: string): unknown =>
  mayBeInexact.test(text) ? parse(text, undefined, exactNumber) : JSON.parse(text);

/** `JSON.stringify` that writes bigints as plain numbers. */
export const exactJson = (value: unknown): string => stringify(value) ?? 'null';
