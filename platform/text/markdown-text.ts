import { printable } from './printable';

/** What means something within a line of markdown, or of the markdown of a chat: code, emphasis, links, tags, tables, mentions. */
const special = /[\\`*_[\]<>#|~!&@:$]/g;
/** What begins a list or a heading, where a text begins. */
const leading = /^(?:[-+=]|\d+[.)])/;

/** A text of others as one line of markdown that shows it, and does nothing else. */
export const markdownText = (text: string): string =>
  printable(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(special, '\\$&')
    .replace(/\bwww\./gi, (prefix) => `${prefix.slice(0, 3)}\\.`)
    .replace(leading, (mark) => `${mark.slice(0, -1)}\\${mark.slice(-1)}`);
