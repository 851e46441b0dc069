import type { WorkProductFormat } from '../../../contracts/tasks/work-product';
import type { HttpContext } from '../../../platform/http/context';
import { answersNotModified, BytesResponse } from '../../../platform/http/response';
import type { StoredVersion } from '../../../stores/tasks/work-product-store';
import { harmless } from '../attachments/download';
import { cleanFileName, extensionOf } from '../attachments/file-name';

const files: Record<WorkProductFormat, { extension: string; type: string }> = {
  markdown: { extension: 'md', type: 'text/markdown' },
  text: { extension: 'txt', type: 'text/plain' },
  json: { extension: 'json', type: 'application/json' },
  csv: { extension: 'csv', type: 'text/csv' },
  html: { extension: 'html', type: 'text/html' },
  yaml: { extension: 'yaml', type: 'application/yaml' },
  patch: { extension: 'patch', type: 'text/x-diff' },
};

/** The name of the file: the title, with the extension of the format unless it has that. */
export function exportName(title: string, format: WorkProductFormat): string {
  const { extension } = files[format];
  // A path in the title is text: its parts are not the name of a directory.
  const name = cleanFileName(title.replace(/[\\/]/g, '_'));
  return extensionOf(name) === extension ? name : cleanFileName(`${name}.${extension}`);
}

/** A version as a file that browsers save; nothing (304) when the caller has it. */
export async function exportVersion(
  ctx: HttpContext,
  { title, version }: { title: string; version: StoredVersion },
  read: () => Promise<string>,
): Promise<BytesResponse | undefined> {
  if (answersNotModified(ctx, `"${version.sha256}"`)) {
    return undefined;
  }
  const bytes = Buffer.from(await read());
  ctx.attachment(exportName(title, version.format));
  return new BytesResponse(inOnePiece(bytes), {
    ...harmless,
    'Content-Type': `${files[version.format].type}; charset=utf-8`,
    'Content-Length': String(bytes.length),
  });
}

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}
