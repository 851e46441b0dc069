/** What counts as one word: a run of letters and digits, or one character of a script that writes no spaces. */
const wordPattern =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]\p{M}*|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}])[\p{L}\p{N}]\p{M}*)+/gu;
const ascii = /^[\u0000-\u007f]*$/;
/** Longer words are names of nothing: keys, hashes, encoded files. */
const longestWord = 64;

/** A word of a text, as it is compared, and where it is. */
export interface WordAt {
  word: string;
  index: number;
}

/** Without case, accents and the width of characters. */
const folded = (word: string): string =>
  (ascii.test(word)
    ? word.toLowerCase()
    : word
        .normalize('NFKD')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]/gu, '')
  ).slice(0, longestWord);

/** The words of a text one after the other, in the form that searches compare. Linear in the length of the text. */
export function* wordsAt(text: string): Generator<WordAt> {
  for (const { 0: raw, index } of text.matchAll(wordPattern)) {
    const word = folded(raw);
    if (word !== '') {
      yield { word, index };
    }
  }
}

/** The first `max` words of a text. */
export function wordsOf(text: string, max: number): string[] {
  const words: string[] = [];
  for (const { word } of wordsAt(text)) {
    if (words.length >= max) {
      break;
    }
    words.push(word);
  }
  return words;
}
