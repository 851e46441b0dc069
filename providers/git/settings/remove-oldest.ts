/** Forgets what was added to a map first, until it has at most so many entries. */
export function removeOldest(map: Map<string, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) {
      break;
    }
    map.delete(oldest);
  }
}
