/** Levels of objects and lists in a value from a caller; a document in MongoDB may have 100, the stored envelope included. */
export const maxJsonDepth = 64;

/** How much of the path to a value that is too deep is named. */
const namedLevels = 8;

interface Level {
  value: object;
  depth: number;
  parent?: Level;
  key?: string;
}

function pathOf(level: Level): string {
  const keys: string[] = [];
  for (let at: Level | undefined = level; at?.key !== undefined; at = at.parent) {
    keys.push(at.key);
  }
  const path = keys.reverse().slice(0, namedLevels).join('.').slice(0, 200);
  return keys.length > namedLevels ? `${path}…` : path;
}

/**
 * Looks for a value that is nested too deeply, without recursion: validation, canonical forms and stores recurse.
 *
 * @returns the path to the first one, its beginning where it is long; `undefined` when there is none
 */
export function findTooDeep(value: unknown, maxDepth = maxJsonDepth): string | undefined {
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  const pending: Level[] = [{ value, depth: 1 }];
  for (let level = pending.pop(); level; level = pending.pop()) {
    if (level.depth > maxDepth) {
      return pathOf(level);
    }
    for (const [key, child] of Object.entries(level.value) as [string, unknown][]) {
      if (typeof child !== 'object' || child === null) {
        continue;
      }
      pending.push({ value: child, depth: level.depth + 1, parent: level, key });
    }
  }
  return undefined;
}
