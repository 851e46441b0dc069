/** Characters that Jira's wiki renderer takes as markup, or as a mention or a macro. A backslash makes each of them itself. */
const markup = /[\\{}[\]*_\-+^~?!|#]/g;
/** A word at the beginning of a line that makes it a heading or a quotation; a character without a width makes it a word. */
const block = /^(h[1-6]|bq)(?=\.)/gim;
const joiner = '\u2060';

/** A text as Jira Data Center shows it unchanged: nothing in it is markup, and it mentions no one. */
export const wikiTextOf = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(markup, (one) => `\\${one}`)
    .replace(block, `$1${joiner}`);

/** A text in wiki markup, without what {@link wikiTextOf} adds; markup of people stays. */
export const textOfWiki = (sent: unknown): string =>
  typeof sent === 'string'
    ? sent
        .replaceAll('\r\n', '\n')
        .replaceAll(joiner, '')
        .replace(/\\([\\{}[\]*_\-+^~?!|#])/g, '$1')
    : '';
