/**
 * Whether a name is among those a pattern is about (contracts/name-pattern.ts). Names are compared to the letter.
 *
 * @param pattern one name, `*` for all, or the beginning of names followed by `*`
 */
export const matchesName = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
