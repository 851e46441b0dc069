import { request } from 'node:http';

export interface SentRequest {
  /** The whole URL of where it is sent. */
  url: string;
  method?: string;
  /** `host` is sent as it is, which `fetch` forbids. */
  headers?: Record<string, string>;
  body?: string;
  /** Instead of the path of the URL. */
  target?: string;
}

/** Sends a request as a page, or a program, may that does not follow the rules of `fetch`. */
export function sendRequest({ url, method = 'GET', headers = {}, body, target }: SentRequest) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...(target === undefined ? {} : { path: target }) });
    sent.once('error', reject).once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.end(body);
  });
}
