import type { SearchCollection } from '../../../contracts/knowledge/search';
import { createRedactor } from '../../../platform/log/redact';
import { redactUserPaths } from '../../../platform/log/redact-user-paths';
import { cut } from '../../../platform/text/cut';
import { printable } from '../../../platform/text/printable';
import type { SearchEntry } from '../../../stores/knowledge/search/entry-store';

/** A document as it is now, with the text that is indexed and quoted. */
export interface SearchDocument extends SearchEntry {
  /** What results call it. */
  ref: string;
  title: string;
  /** What matches as the title does: a document is also found by the words of its path. */
  heading: string;
  path: string;
  text: string;
}

/** Where documents are from. Ids begin with the prefix of their source. */
export interface SearchSource {
  readonly prefix: string;
  readonly collections: readonly SearchCollection[];
  /** Every document that there is, with its version. */
  list(): AsyncIterable<SearchEntry>;
  /** The document as it is now; `undefined` when there is none, or none that may be shown. */
  load(id: string): Promise<SearchDocument | undefined>;
}

/** Changed when texts are indexed in another way: everything is then indexed again. */
export const indexFormat = '1';
/** Characters of one document that are indexed. */
export const maxText = 200_000;

const redact = createRedactor();

/** The longest credential that redaction recognises: one that is cut through at the end of a text has no shape any more. */
const longestSecret = 10_000;

/** A text as it may be indexed and quoted: without what looks like a credential, names of users in paths, and control characters. */
export function cleanText(text: string): string {
  const clean = printable(redactUserPaths(redact(cut(text, maxText))));
  return text.length > maxText ? cut(clean, Math.max(0, clean.length - longestSecret)) : clean;
}
