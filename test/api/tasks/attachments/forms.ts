import { zipSync } from 'fflate';
import { adminKey, type ApiUnderTest, type Reply } from '../../api-under-test';

/** The smallest file that is a GIF. */
export const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A document of Word with one paragraph for each text. */
export function docx(...paragraphs: string[]): Buffer {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('');
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
  return zipped({
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${type}"/></Types>`,
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="urn:w"><w:body>${body}</w:body></w:document>`,
  });
}

export const zipped = (files: Record<string, string | Uint8Array>): Buffer =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(files).map(([name, content]) => [
          name,
          typeof content === 'string' ? new TextEncoder().encode(content) : content,
        ]),
      ),
    ),
  );

/** A document of one page. */
export const pdf = (text: string): Buffer =>
  Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length ${text.length + 35}>>stream
BT /F1 12 Tf 20 100 Td (${text}) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF`);

export interface Sent {
  name: string;
  content: Buffer | string;
  type?: string;
  field?: string;
}

export interface Sending {
  key?: string | null;
  headers?: Record<string, string>;
}

/** Sends files as a form. */
export async function send(board: ApiUnderTest, taskId: string, files: Sent[], options: Sending = {}): Promise<Reply> {
  const { key = adminKey, headers = {} } = options;
  const form = new FormData();
  for (const { name, content, type, field = 'files' } of files) {
    form.append(field, new File([content], name, { type }));
  }
  const response = await fetch(`${board.url}/api/tasks/${taskId}/attachments`, {
    method: 'POST',
    headers: { ...(key === null ? {} : { 'X-API-Key': key }), ...headers },
    body: form,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
