import type { Attributes } from './dot';

/** The whole number of an attribute; `undefined` when it is absent, or out of its range, which is passed to `problem`. */
export function integer(
  name: string,
  attributes: Attributes,
  { range: [least, most], problem }: { range: [number, number]; problem: (message: string) => void },
): number | undefined {
  const written = attributes.get(name);
  if (written === undefined) {
    return undefined;
  }
  const value = /^\d{1,9}$/.test(written) ? Number(written) : NaN;
  if (value >= least && value <= most) {
    return value;
  }
  problem(`${name} must be a whole number from ${least} to ${most}`);
  return undefined;
}
