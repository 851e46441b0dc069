/**
 * Whether a path matches a pattern: `*` is any text within one directory, `?` one character of it, `**` as a whole
 * part any number of directories. Takes time in proportion to the lengths multiplied, whatever the pattern: people who may
 * not write a roster send paths, and a regular expression made of a pattern can take for ever.
 */
export function matchesGlob(glob: string, path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return matchesList(glob.split('/'), parts, {
    isAny: (pattern) => pattern === '**',
    matches: (pattern, part) => matchesPart(pattern, part),
  });
}

const matchesPart = (pattern: string, part: string): boolean =>
  matchesList(Array.from(pattern), Array.from(part), {
    isAny: (mark) => mark === '*',
    matches: (mark, character) => mark === '?' || mark === character,
  });

interface Symbols {
  /** Matches any number of items. */
  isAny: (symbol: string) => boolean;
  matches: (symbol: string, item: string) => boolean;
}

/** Greedy with one backtracking position: the last symbol for any number of items takes one item more. */
function matchesList(symbols: string[], items: string[], { isAny, matches }: Symbols): boolean {
  let at = 0;
  let back: { symbol: number; item: number } | undefined;
  for (let item = 0; item < items.length;) {
    const symbol = symbols[at];
    if (symbol !== undefined && isAny(symbol)) {
      back = { symbol: at, item };
      at += 1;
    } else if (symbol !== undefined && matches(symbol, items[item] ?? '')) {
      at += 1;
      item += 1;
    } else if (back) {
      back.item += 1;
      item = back.item;
      at = back.symbol + 1;
    } else {
      return false;
    }
  }
  return symbols.slice(at).every(isAny);
}
