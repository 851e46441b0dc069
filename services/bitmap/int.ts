/**
 * A 64-bit integer without loss: a number where a number is exact, a bigint beyond that. Always in this one form, so that
 * `===`, `<` and the keys of a Map compare values.
 */
export type Int = number | bigint;

export const minInt64 = -(2n ** 63n);
export const maxInt64 = 2n ** 63n - 1n;

const exact = (value: bigint): boolean => BigInt.asIntN(54, value) === value && value !== -(2n ** 53n);

export const toInt = (value: bigint): Int => (exact(value) ? Number(value) : value);

export const isInt = (value: unknown): value is Int => typeof value === 'bigint' || Number.isSafeInteger(value);

export const add = (a: Int, b: Int): Int => {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) {
      return sum;
    }
  }
  return toInt(BigInt(a) + BigInt(b));
};

export const subtract = (a: Int, b: Int): Int => add(a, negate(b));

/** `0 - a`, without the negative zero of numbers. */
export const negate = (a: Int): Int => (typeof a === 'number' ? 0 - a : toInt(-a));

export const multiply = (a: Int, b: Int): Int => {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) {
      return product === 0 ? 0 : product;
    }
  }
  return toInt(BigInt(a) * BigInt(b));
};

export const compare = (a: Int, b: Int): number => (a < b ? -1 : a > b ? 1 : 0);

/** The integer of a decimal text, or undefined when it is none or does not fit signed 64 bits. */
export function parseInt64(text: string): Int | undefined {
  if (!/^-?\d{1,19}$/.test(text)) {
    return undefined;
  }
  const value = BigInt(text);
  return value < minInt64 || value > maxInt64 ? undefined : toInt(value);
}

/** Bits that the magnitude of `value` needs; 0 for 0. */
export function bitLength(value: Int): number {
  const magnitude = value < 0 ? negate(value) : value;
  return magnitude === 0 ? 0 : magnitude.toString(2).length;
}
