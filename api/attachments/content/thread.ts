/**
 * A thread that looks at one file. What is in it is hostile: whatever it makes the parsers do ends with the thread,
 * which has limits of time and memory (`examine.ts`).
 */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { fileTypeFromBuffer } from 'file-type';
import { fileTypeOf, type FileType } from './file-types';
import type { Finding, Look } from './messages';
import { officeText } from './office';
import { pdfText } from './pdf';
import { readPlainText } from './plain-text';
import { FileRefused } from './refused';
import { wellFormed } from '../../../stores/board-files/plain';

const { path, extension, maxTextLength } = workerData as Look;
const say = (finding: Finding): void => parentPort?.postMessage(finding);

async function assertMagic(content: Buffer, { magic }: FileType): Promise<void> {
  const found = await fileTypeFromBuffer(content);
  if (found?.mime !== magic) {
    throw new FileRefused(`The content is not what .${extension} says${found ? `: it is ${found.mime}` : ''}.`);
  }
}

async function textOf(content: Buffer, type: FileType): Promise<string | undefined> {
  if (type.mimeType === 'application/pdf') return pdfText(content, maxTextLength);
  return type.mimeType.includes('openxmlformats') ? officeText(content, extension, maxTextLength) : undefined;
}

async function look(): Promise<void> {
  const type = fileTypeOf(extension);
  if (!type) throw new FileRefused('Files of this type may not be attached.');
  const content = readFileSync(path);
  const plain = type.known === 'by-extension' ? readPlainText(content, type.mimeType) : undefined;
  if (plain === undefined) await assertMagic(content, type);
  say({ kind: 'accepted', mimeType: type.mimeType });
  const text = plain ?? (await textOf(content, type));
  if (text?.trim()) say({ kind: 'text', text: wellFormed(text.slice(0, maxTextLength)) });
}

look().catch((error: unknown) => {
  if (!(error instanceof FileRefused)) throw error;
  say({ kind: 'refused', reason: error.message });
});
