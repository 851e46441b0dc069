/** Characters that a terminal obeys instead of showing: of agents, they could rewrite what was printed before. */

const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text of others for a terminal: line breaks and tabs stay, other control characters are shown as `\uFFFD`. */
export const plain = (text: string): string => text.replace(/\r\n/g, '\n').replace(control, '\uFFFD');

/** The same on one line, cut to a length. */
export function oneLine(text: string, maxLength: number): string {
  const line = plain(text).replace(/\s+/g, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`;
}
