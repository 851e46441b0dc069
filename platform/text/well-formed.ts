/** Whether UTF-8 can hold the text: whether it has no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** The text as UTF-8 can hold it: halves of surrogate pairs become U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** The text as every store can hold it: the same, and NUL, at which SQLite's texts end, becomes U+FFFD too. */
export const storableText = (text: string): string => wellFormed(text).replaceAll('\0', '\ufffd');
