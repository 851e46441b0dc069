/**
 * A process that examines one file. What is in it is hostile: whatever it makes the parsers do ends with the process, which has
 * limits of time and memory (`limited-process.ts`).
 */
import { readFileSync } from 'node:fs';
import { fileTypeFromBuffer } from 'file-type';
import { wellFormed } from '../../../../platform/text/well-formed';
import { type FileType, fileTypeOf } from './file-types';
import type { Finding, Look } from './messages';
import { officeText } from './office';
import { pdfText } from './pdf';
import { readPlainText } from './plain-text';
import { FileRefused } from './refused';
import { TooLarge } from './too-large';

const { path, extension, maxTextLength } = JSON.parse(process.argv[2] ?? '{}') as Look;
const report = (finding: Finding): void => void process.send?.(finding);

async function assertMagic(content: Buffer, { magic }: FileType): Promise<void> {
  const detected = await fileTypeFromBuffer(content);
  if (detected?.mime !== magic) {
    throw new FileRefused(
      `The content is not of the type of .${extension}${detected ? `: it is ${detected.mime}` : ''}.`,
    );
  }
}

async function textOf(content: Buffer, type: FileType): Promise<string | undefined> {
  if (type.mimeType === 'application/pdf') {
    return pdfText(content, maxTextLength);
  }
  return type.mimeType.includes('openxmlformats') ? officeText(content, extension, maxTextLength) : undefined;
}

/** Errors of memory that is not available, or not allowed. */
const isLimit = (error: unknown): boolean =>
  error instanceof TooLarge ||
  (error instanceof RangeError && /allocation|array length|buffer|stack/i.test(error.message));

async function look(): Promise<void> {
  const type = fileTypeOf(extension);
  if (!type) {
    throw new FileRefused('Files of this type may not be attached.');
  }
  const content = readFileSync(path);
  const plain = type.known === 'by-extension' ? readPlainText(content, type.mimeType) : undefined;
  if (plain === undefined) {
    await assertMagic(content, type);
  }
  report({ kind: 'accepted', mimeType: type.mimeType });
  try {
    const text = plain ?? (await textOf(content, type));
    if (text?.trim()) {
      report({ kind: 'text', text: wellFormed(text.slice(0, maxTextLength)) });
    }
  } catch (error) {
    report({ kind: 'no-text', problem: isLimit(error) ? 'limit' : 'unreadable' });
  }
}

look()
  .catch((error: unknown) => {
    if (!(error instanceof FileRefused)) {
      throw error;
    }
    report({ kind: 'refused', reason: error.message });
  })
  .finally(() => {
    // Earlier messages are delivered before it.
    if (process.connected) {
      process.disconnect();
    }
  });
// The parent is gone: the rest has no receiver.
process.once('disconnect', () => process.exit());
