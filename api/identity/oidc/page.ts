import { BytesResponse } from '../../../platform/http/response';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/**
 * A page that goes on to a path of this service by itself. A redirect would not do: browsers count one that began at the
 * provider as another site's request, which neither brings the cookie of the session nor may read anything here.
 */
export function forwardingPage(path: string): BytesResponse {
  const target = escaped(path);
  const html =
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${target}">` +
    `<title>Runboard</title></head><body><a href="${target}">Continue</a></body></html>\n`;
  return new BytesResponse(oneChunk(html), { 'Content-Type': 'text/html; charset=utf-8' });
}
