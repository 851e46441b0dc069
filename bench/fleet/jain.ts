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
 * How often each party had its turn while every one of them still waited for another: up to the last turn of the first that
 * had no more.
 */
export function contendedTurns(turns: readonly string[]): number[] {
  const left = new Map<string, number>();
  for (const party of turns) {
    left.set(party, (left.get(party) ?? 0) + 1);
  }
  const had = new Map([...left.keys()].map((party) => [party, 0]));
  for (const party of turns) {
    had.set(party, (had.get(party) ?? 0) + 1);
    if (had.get(party) === left.get(party)) {
      break;
    }
  }
  return [...had.values()];
}
