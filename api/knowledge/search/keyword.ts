import type { SearchCollection, SearchResult } from '../../../contracts/knowledge/search';
import { validationError } from '../../../platform/errors/app-error';
import { wordsAt } from '../../../platform/text/words';
import { maxTerms, type TextIndex, type TextMatch, type TextTerm } from '../../../stores/port/text/text-index';
import { excerptOf } from './excerpt';
import type { SearchDocument } from './source';

/** From which length on a word is also looked for as a beginning, and how many are: each such word costs time. */
const beginnings = { from: 3, most: 4 };
/** Matches that are read for one result: the index may be behind what there is now. */
const spare = { times: 2, more: 20 };

export interface KeywordDeps {
  index: TextIndex;
  load: (id: string) => Promise<SearchDocument | undefined>;
}

export interface KeywordQuery {
  words: readonly string[];
  collections: readonly SearchCollection[];
  limit: number;
  /** No further document is read from then on. */
  signal: AbortSignal;
}

/** The different words of a query. @throws AppError 400 when there are none, or too many */
export function queryWords(query: string): string[] {
  const words = [...new Set([...wordsAt(query)].map(({ word }) => word))];
  if (words.length === 0) {
    throw validationError([{ path: 'query', message: 'must have at least one letter or digit' }]);
  }
  if (words.length > maxTerms) {
    throw validationError([{ path: 'query', message: `must have at most ${maxTerms} different words` }]);
  }
  return words;
}

interface Stage {
  terms: TextTerm[];
  needs: 'all' | 'any';
}

/** What is looked for, one after the other until something is found. */
function stagesOf(words: readonly string[]): Stage[] {
  const exact = words.map((word) => ({ word }));
  const long = [...words].sort((a, b) => b.length - a.length).slice(0, beginnings.most);
  const begun = words.map((word) =>
    word.length >= beginnings.from && long.includes(word) ? { word, isPrefix: true } : { word },
  );
  return [
    { terms: exact, needs: 'all' },
    { terms: begun, needs: 'all' },
    ...(words.length > 1 ? [{ terms: exact, needs: 'any' as const }] : []),
  ];
}

/** A score of BM25, which has no upper bound, between 0 and 1. */
const bounded = (score: number): number => Math.round((score / (1 + score)) * 10_000) / 10_000;

/** A document in a response. */
export const resultOf = (document: SearchDocument, snippet: string, score: number): SearchResult => ({
  id: document.ref,
  title: document.title,
  path: document.path,
  collection: document.collection,
  snippet,
  score,
});

/** The documents that have the words as they are now: what the index alone claims is no result. */
export async function findByWords(deps: KeywordDeps, query: KeywordQuery): Promise<SearchResult[]> {
  for (const stage of stagesOf(query.words)) {
    const limit = spare.times * query.limit + spare.more;
    const matches = await deps.index.match({ ...stage, groups: query.collections, limit });
    const results = await confirmed(deps, matches, { ...query, ...stage });
    if (results.length > 0 || query.signal.aborted) {
      return results;
    }
  }
  return [];
}

async function confirmed(
  { load }: KeywordDeps,
  matches: readonly TextMatch[],
  { terms, needs, collections, limit, signal }: KeywordQuery & Stage,
): Promise<SearchResult[]> {
  const results: SearchResult[] = [];
  for (const { id, score } of matches) {
    if (results.length >= limit || signal.aborted) {
      break;
    }
    const document = await load(id);
    const snippet = document && collections.includes(document.collection) && excerptOf(document, terms, needs);
    if (document && typeof snippet === 'string') {
      results.push(resultOf(document, snippet, bounded(score)));
    }
  }
  return results;
}
