/** Characters that change the order in which text is shown. */
const bidirectional = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Characters without width, and those of tags, with which text is hidden. */
const invisible =
  /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\u{1bca0}-\u{1bca3}\u{e0000}-\u{e01ef}]/u;
/** Joiners are part of emoji and of some scripts, and of no Latin word. */
const joinedLatin = /[A-Za-z0-9][\u200c\u200d]|[\u200c\u200d][A-Za-z0-9]/u;

/** Control characters; a terminal obeys them. */
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u;

/** Letters of Greek and Cyrillic that look like Latin ones; those of units and mathematics are left out. */
const lookalike =
  '[\\u0391\\u0392\\u0395-\\u0397\\u0399\\u039a\\u039c-\\u039f\\u03a1\\u03a4\\u03a5\\u03a7\\u03bd\\u03bf\\u03c1\\u03c5\\u0400-\\u04ff]';
const mixedWord = new RegExp(`[A-Za-z]${lookalike}|${lookalike}[A-Za-z]`, 'u');
const mathematical = /[\u{1d400}-\u{1d7ff}\uff21-\uff3a\uff41-\uff5a]{2}/u;

export type HiddenText = 'bidirectional-text' | 'invisible-text' | 'control-characters' | 'lookalike-letters';

/** What in a text a reader does not see as it is. */
export function hiddenTextIn(text: string): HiddenText[] {
  // Plain ASCII has none of it but control characters.
  const found: HiddenText[] = control.test(text) ? ['control-characters'] : [];
  if (!/[^\u0000-\u007f]/.test(text)) {
    return found;
  }
  if (bidirectional.test(text)) {
    found.push('bidirectional-text');
  }
  if (invisible.test(text) || joinedLatin.test(text)) {
    found.push('invisible-text');
  }
  if (mixedWord.test(text) || mathematical.test(text)) {
    found.push('lookalike-letters');
  }
  return found;
}

const unseen = new RegExp(`${bidirectional.source}|${invisible.source}|[\\u200c\\u200d]|${control.source}`, 'gu');

/** Letters that look like others, as those; the rest is what Unicode considers the same. */
const latinOf: Readonly<Record<string, string>> = {
  ...{ а: 'a', е: 'e', о: 'o', р: 'p', с: 'c', у: 'y', х: 'x', і: 'i', ј: 'j', ѕ: 's', һ: 'h', ԁ: 'd', ԛ: 'q', ԝ: 'w' },
  ...{ А: 'A', В: 'B', Е: 'E', К: 'K', М: 'M', Н: 'H', О: 'O', Р: 'P', С: 'C', Т: 'T', Х: 'X', І: 'I', Ѕ: 'S' },
  ...{ ο: 'o', ν: 'v', ρ: 'p', υ: 'u', Α: 'A', Β: 'B', Ε: 'E', Ζ: 'Z', Η: 'H', Ι: 'I', Κ: 'K', Μ: 'M', Ν: 'N', Ο: 'O' },
  ...{ Ρ: 'P', Τ: 'T', Υ: 'Y', Χ: 'X' },
};

/** The text as a reader, or a program that folds it, takes it: what the rules search. The text is short (`windowsOf`). */
export const foldedText = (text: string): string =>
  /[^\t\u0020-\u007e]/.test(text)
    ? text
        .replace(unseen, '')
        .normalize('NFKC')
        .replace(/[\u0370-\u04ff\u0500-\u052f]/gu, (letter) =>
          Object.hasOwn(latinOf, letter) ? (latinOf[letter] ?? letter) : letter,
        )
    : text;

/** The text with what a reader does not see as its code points. */
export const visibleText = (text: string): string =>
  text.replace(
    unseen,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
