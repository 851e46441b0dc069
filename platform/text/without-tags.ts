/** A tag, a closing tag or a comment; `a < b` and `x <- y` are none. */
const tag = /<(?:!--[^]*?-->|\/?[a-zA-Z][^<>]*>)/g;

/** Removes HTML tags, also those that appear once others are removed. Texts are limited to a few thousand characters. */
export function withoutTags(text: string): string {
  let before: string;
  let after = text;
  do {
    before = after;
    after = before.replace(tag, '');
  } while (after !== before);
  return after.trim();
}
