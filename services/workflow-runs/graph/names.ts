import type { Attributes } from './dot';

const maxNames = 10;

/** The names of an attribute, with commas between them; what is wrong with them is passed to `problem`. */
export function namesOf(
  name: string,
  attributes: Attributes,
  problem: (message: string) => void,
): string[] | undefined {
  const names = attributes
    .get(name)
    ?.split(',')
    .map((each) => each.trim());
  if (names && (names.length > maxNames || names.includes(''))) {
    problem(`${name} must be up to ${maxNames} names with commas between them`);
  }
  return names;
}
