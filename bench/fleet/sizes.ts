/** A size of a benchmark from the environment; `fallback` when it is not set. */
export function sizeOf(name: string, fallback: number): number {
  const text = process.env[name];
  if (text === undefined) {
    return fallback;
  }
  const size = Number(text);
  if (!Number.isSafeInteger(size) || size < 0) {
    throw new Error(`${name} is no whole number from 0: ${text}`);
  }
  return size;
}

/** Sizes from the environment, such as `1,2,4`. */
export function sizesOf(name: string, fallback: readonly number[]): number[] {
  const text = process.env[name];
  if (text === undefined) {
    return [...fallback];
  }
  const sizes = text.split(',').map(Number);
  if (!sizes.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw new Error(`${name} is no list of whole numbers from 0: ${text}`);
  }
  return sizes;
}
