import { searchLimits } from '../../../contracts/knowledge/search';
import { cut } from '../../../platform/text/cut';
import { wordsAt } from '../../../platform/text/words';
import type { TextTerm } from '../../../stores/port/text/text-index';
import type { SearchDocument } from './source';

/** Characters before the first match that are shown. */
const before = 60;
const longest = searchLimits.snippet - 2;

const matches = ({ word: wanted, isPrefix }: TextTerm, word: string): boolean =>
  isPrefix === true ? word.startsWith(wanted) : word === wanted;

/**
 * What of a document matches, and a part of its text around that; `undefined` when it does not match as it is now, whatever the
 * index has of it.
 */
export function excerptOf(
  { heading, text }: Pick<SearchDocument, 'heading' | 'text'>,
  terms: readonly TextTerm[],
  needs: 'all' | 'any',
): string | undefined {
  const missing = new Set(terms);
  const take = (word: string): boolean => {
    const found = terms.filter((term) => matches(term, word));
    found.forEach((term) => missing.delete(term));
    return found.length > 0;
  };
  for (const { word } of wordsAt(heading)) {
    take(word);
  }
  const flat = text.replace(/\s+/g, ' ').trim();
  const places: number[] = [];
  for (const { word, index } of wordsAt(flat)) {
    if (take(word) && places.length < 200) {
      places.push(index);
    }
    if (missing.size === 0 && places.length >= 200) {
      break;
    }
  }
  const isMatch = needs === 'all' ? missing.size === 0 : missing.size < terms.length;
  return isMatch ? around(flat, places) : undefined;
}

/** The beginning of a text. */
export const beginningOf = (text: string): string => around(text.replace(/\s+/g, ' ').trim(), []);

/** The part with the most matches, the first of several such. */
function around(text: string, places: readonly number[]): string {
  const room = longest - before;
  let best = { at: 0, count: 0 };
  for (const [index, at] of places.entries()) {
    const count = places.filter((other, position) => position >= index && other < at + room).length;
    if (count > best.count) {
      best = { at, count };
    }
  }
  let start = Math.max(0, best.at - before);
  if (start > 0) {
    // Begin with a whole word, where one begins.
    const space = text.indexOf(' ', start);
    start = space >= 0 && space < best.at ? space + 1 : best.at;
  }
  const part = cut(text.slice(start), longest);
  return `${start > 0 ? '…' : ''}${part}${start + part.length < text.length ? '…' : ''}`;
}
