import type { SearchResult } from '../../../contracts/knowledge/search';

/** How little the first places of a list differ: the usual constant of reciprocal rank fusion. */
const smoothing = 60;

/**
 * Several lists as one, by reciprocal rank fusion: scores of different kinds cannot be compared, places can. The snippet is of the
 * first list that has the result.
 */
export function fuse(lists: readonly (readonly SearchResult[])[], limit: number): SearchResult[] {
  const fused = new Map<string, { result: SearchResult; score: number }>();
  for (const list of lists) {
    for (const [place, result] of list.entries()) {
      const key = `${result.collection} ${result.id}`;
      const score = 1 / (smoothing + place + 1);
      const other = fused.get(key);
      fused.set(key, other ? { ...other, score: other.score + score } : { result, score });
    }
  }
  const best = lists.length / (smoothing + 1);
  return [...fused.values()]
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ result, score }) => ({ ...result, score: Math.round((score / best) * 10_000) / 10_000 }));
}
