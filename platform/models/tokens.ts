/** A token is about four characters of English, and fewer of anything else that is ASCII. */
const asciiPerToken = 3;
/** What other scripts take at most, about, for each UTF-16 unit. */
const tokensPerOther = 2;

/** How many tokens a text has for a model, at most, about: each has rules of its own. */
export function tokensOf(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at += 1) {
    others += text.charCodeAt(at) > 127 ? 1 : 0;
  }
  return Math.ceil((text.length - others) / asciiPerToken + others * tokensPerOther);
}
