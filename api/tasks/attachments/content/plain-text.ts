import { isUtf8 } from 'node:buffer';
import { FileRefused } from './refused';

const byteOrderMark = '\uFEFF';

/**
 * The text of a file with a text type.
 *
 * @throws FileRefused for what is no UTF-8, has NUL in it, is a script, or JSON that cannot be parsed
 */
export function readPlainText(content: Buffer, mimeType: string): string {
  if (!isUtf8(content) || content.includes(0)) {
    throw new FileRefused('The content is not UTF-8 text.');
  }
  const decoded = content.toString('utf8');
  const text = decoded.startsWith(byteOrderMark) ? decoded.slice(1) : decoded;
  if (text.startsWith('#!')) {
    throw new FileRefused('The content is a script.');
  }
  if (mimeType === 'application/json') {
    assertJson(text);
  }
  return text;
}

function assertJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new FileRefused('The content is not JSON.');
  }
}
