import { type UnzipFileInfo, unzipSync } from 'fflate';
import { SaxesParser } from 'saxes';
import { TooLarge } from './too-large';

/** Where the text of each kind is, and in which elements. */
const layouts: Readonly<Record<string, { parts: RegExp; text: string; breaks: readonly string[] }>> = {
  docx: { parts: /^word\/(document|footnotes|endnotes)\.xml$/, text: 'w:t', breaks: ['w:p', 'w:br', 'w:tab'] },
  xlsx: { parts: /^xl\/sharedStrings\.xml$/, text: 't', breaks: ['si'] },
  pptx: { parts: /^ppt\/slides\/slide\d+\.xml$/, text: 'a:t', breaks: ['a:p', 'a:br'] },
};

/** Of all parts of one file together, unpacked: a small file can unpack to any size. */
const maxUnpackedBytes = 32 * 1_048_576;
const maxParts = 500;

const numberIn = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 0);

/**
 * The text of an office document: its paragraphs, cells or slides, a line each.
 *
 * @param maxLength where to stop, in UTF-16 units
 * @throws TooLarge when it unpacks to more than it may; another error when it is damaged
 */
export function officeText(content: Buffer, extension: string, maxLength: number): string {
  const layout = layouts[extension];
  if (!layout) {
    throw new Error(`No text is read from ${extension} files.`);
  }
  let bytes = 0;
  let parts = 0;
  const isTextPart = ({ name, originalSize }: UnzipFileInfo): boolean => {
    if (!layout.parts.test(name)) {
      return false;
    }
    // Unpacking ends at the size that the archive states.
    bytes += originalSize;
    parts += 1;
    if (bytes > maxUnpackedBytes || parts > maxParts) {
      throw new TooLarge('The archive exceeds the limit of extracted content.');
    }
    return true;
  };
  const files = Object.entries(unzipSync(content, { filter: isTextPart }));
  const inOrder = files.sort(([a], [b]) => numberIn(a) - numberIn(b) || (a < b ? -1 : 1));
  let text = '';
  for (const [, xml] of inOrder) {
    text += `${elementText(Buffer.from(xml).toString('utf8'), layout)}\n`;
    if (text.length > maxLength) {
      break;
    }
  }
  return text;
}

/** The text within some elements, with a line break after others. */
function elementText(xml: string, { text, breaks }: { text: string; breaks: readonly string[] }): string {
  const parser = new SaxesParser();
  const texts: string[] = [];
  let inside = 0;
  parser.on('opentag', ({ name }) => {
    if (name === text) {
      inside += 1;
    }
  });
  parser.on('closetag', ({ name }) => {
    if (name === text) {
      inside -= 1;
    } else if (breaks.includes(name)) {
      texts.push('\n');
    }
  });
  parser.on('text', (piece) => {
    if (inside > 0) {
      texts.push(piece);
    }
  });
  // Without a listener a mistake is thrown.
  parser.write(xml).close();
  return texts.join('');
}
