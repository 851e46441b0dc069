/** Control strings, with their content on the line: OSC (titles, links, the clipboard), DCS, SOS, PM and APC. */
const controlStrings =
  /(?:\u001b[P\]X^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?/g;
/** Control sequences: colours, cursor movements, modes. */
const controlSequences = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/g;
/** The rest of shorter escapes: a character set, a reset. */
const shortEscapes = /\u001b(?:[ -/]*[0-~])?/g;
/** C0 and C1 controls, but for tab and line feed. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Marks, embeddings, overrides and isolates that show text in another order than it has. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text as it may be shown in a terminal or a page: without escape sequences, control characters and what turns its
 * direction around. Lines end with a line feed; tabs stay. Linear in the length of the text.
 */
export const printable = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(controlStrings, '')
    .replace(controlSequences, '')
    .replace(shortEscapes, '')
    .replace(controls, '')
    .replace(directions, '');
