import { type Line, readLines, withFencesClosed } from './fences';

/** A heading that ends a section of the second level. */
const endsSection = ({ text, fenced }: Line): boolean => !fenced && /^#{1,2}(?:\s|$)/.test(text);

const joined = (lines: Line[]): string => lines.map(({ text }) => text).join('\n');

/**
 * The markdown with `addition` as the last paragraph under the heading `## <section>`; the heading is made at the end when
 * there is none. What is in blocks of code is no heading, and no block stays open behind what is added.
 */
export function appendToSection(
  markdown: string,
  {
    section,
    addition,
    mark,
  }: {
    /** One line of text. */
    section: string;
    addition: string;
    /** Stands behind the addition, on a line of its own. */
    mark?: string;
  },
): string {
  const heading = `## ${section.trim()}`;
  const closed = withFencesClosed(addition.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd());
  const added = mark === undefined ? closed : `${closed}\n\n${mark}`;
  const { lines } = readLines(withFencesClosed(markdown));
  const start = lines.findIndex(({ text, fenced }) => !fenced && text.trimEnd() === heading);
  if (start < 0) {
    return `${[joined(lines).trimEnd(), heading, added].filter(Boolean).join('\n\n')}\n`;
  }
  const length = lines.slice(start + 1).findIndex(endsSection);
  const end = length < 0 ? lines.length : start + 1 + length;
  const above = joined(lines.slice(0, end)).trimEnd();
  const below = joined(lines.slice(end));
  return `${above}\n\n${added}\n${below === '' ? '' : `\n${below}`}`;
}

/** A comment, which markdown does not show, that names the addition it stands behind; a repetition of it finds it there. */
export const markOfAddition = (id: string): string => `<!-- added ${id} -->`;
