import { BytesResponse } from './response';

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** A response that is a text and no JSON; browsers show it as nothing else. */
export const textResponse = (text: string, mediaType: string, headers: Record<string, string> = {}): BytesResponse =>
  new BytesResponse(oneChunk(text), {
    'Content-Type': `${mediaType}; charset=utf-8`,
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
