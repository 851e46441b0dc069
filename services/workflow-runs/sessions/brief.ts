const titleLength = 60;
const previewLength = 100;

/** The beginning of a text on one line, cut between two words where that does not cost most of it. */
export function titleOf(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  if (line.length <= titleLength) {
    return line;
  }
  const room = whole(line, titleLength);
  const end = line[room.length] === ' ' ? room.length : room.lastIndexOf(' ');
  return `${(end > titleLength / 2 ? room.slice(0, end) : room).trimEnd()}…`;
}

/** The beginning of a text. */
export const previewOf = (text: string): string =>
  text.length <= previewLength ? text : `${whole(text, previewLength)}…`;

/** At most `length` units of UTF-16, without half a character at the end. */
const whole = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
