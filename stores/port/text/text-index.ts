/** A document as it is searched: its words in the form of `platform/text/words`, and nothing that could be read back. */
export interface TextEntry {
  id: string;
  /** Searches name the groups that they are about. Lower-case letters and hyphens. */
  group: string;
  title: readonly string[];
  body: readonly string[];
}

/** A word that a document must have. */
export interface TextTerm {
  word: string;
  /** Also the beginning of a longer word. */
  isPrefix?: boolean;
}

export interface TextQuery {
  /** At most `maxTerms`, in the form of `platform/text/words`. */
  terms: readonly TextTerm[];
  /** Whether a document needs all of them, or any. */
  needs: 'all' | 'any';
  groups: readonly string[];
  limit: number;
}

/** A document that matches; a higher score is a better match, comparable within one response only. */
export interface TextMatch {
  id: string;
  score: number;
}

/** Words of one query; each one costs time. */
export const maxTerms = 12;
/** Documents of which a query chooses the best; of more, which ones is left to the adapter. */
export const maxCandidates = 5_000;

/**
 * An index of words, which finds documents and stores none. Derived from what it indexes: writes are repeatable, each document is
 * replaced or removed as a whole, and no two writes depend on each other.
 */
export interface TextIndex {
  put(entry: TextEntry): Promise<void>;
  remove(id: string): Promise<void>;
  /** The best first. Bounded in time whatever is asked for. */
  match(query: TextQuery): Promise<TextMatch[]>;
}

/** @throws TypeError for what is no word: adapters write words into queries of their own */
export function assertTerms(terms: readonly TextTerm[]): void {
  if (terms.length === 0 || terms.length > maxTerms) {
    throw new TypeError(`A query has between 1 and ${maxTerms} words.`);
  }
  for (const { word } of terms) {
    if (!/^[\p{L}\p{N}]{1,64}$/u.test(word)) {
      throw new TypeError(`${JSON.stringify(word)} is no word.`);
    }
  }
}

/** @throws TypeError for what is no name of a group */
export function assertGroup(group: string): void {
  if (!/^[a-z][a-z-]{0,40}$/.test(group)) {
    throw new TypeError(`${JSON.stringify(group)} is no group.`);
  }
}
