/**
 * Jain's fairness index of what each of some parties received: 1 when all received as much, 1/n when one of n received everything.
 * Nothing received by any is fair.
 */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares);
}

/**
 * What share of its due each party received of the turns that it competed for: 1 when it had every n-th turn of a place where n
 * parties waited. Turns for which only one party waited count for none.
 *
 * @param places the parties in the order of their turns, of each place; a party waits there until its last turn
 */
export function contestedShares(places: Iterable<readonly string[]>): Map<string, number> {
  const had = new Map<string, number>();
  const due = new Map<string, number>();
  const add = (sums: Map<string, number>, party: string, turns: number) =>
    sums.set(party, (sums.get(party) ?? 0) + turns);
  for (const turns of places) {
    const left = new Map<string, number>();
    turns.forEach((party) => add(left, party, 1));
    for (const party of turns) {
      if (left.size > 1) {
        add(had, party, 1);
        left.forEach((_, waiting) => add(due, waiting, 1 / left.size));
      }
      add(left, party, -1);
      if (left.get(party) === 0) {
        left.delete(party);
      }
    }
  }
  return new Map([...due].map(([party, turns]) => [party, (had.get(party) ?? 0) / turns]));
}
