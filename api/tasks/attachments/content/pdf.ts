import { getDocumentProxy } from 'unpdf';

/**
 * The text of a PDF, page after page.
 *
 * @param maxLength where to stop, in UTF-16 units
 * @throws Error when it is damaged or encrypted
 */
export async function pdfText(content: Buffer, maxLength: number): Promise<string> {
  // A document detaches the bytes it is given from their owner.
  const document = await getDocumentProxy(new Uint8Array(content), { isEvalSupported: false, verbosity: 0 });
  let text = '';
  for (let number = 1; number <= document.numPages && text.length <= maxLength; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    for (const item of items) {
      if ('str' in item) {
        text += item.hasEOL ? `${item.str}\n` : item.str;
      }
    }
    text += '\n';
    page.cleanup();
  }
  return text;
}
