/** Some things by what they have in common, in their order. */
export function grouped<T, K>(things: Iterable<T>, by: (thing: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const thing of things) {
    const key = by(thing);
    const group = groups.get(key);
    if (group) {
      group.push(thing);
    } else {
      groups.set(key, [thing]);
    }
  }
  return groups;
}
