import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';

export interface FilteredFetchSettings {
  /** The one origin that is called: a response cannot send the caller, with its credentials, elsewhere. */
  origin: string;
  /** Whether that may have an address of a private network, or of this machine. */
  allowPrivate: boolean;
  timeoutMs: number;
  /** The most of a response that is read. */
  maxBytes: number;
}

/** The request is not sent: its address is one that is never talked to. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

interface SentRequest {
  method?: string | undefined;
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
}

export type FilteredFetch = (url: string | URL, request?: SentRequest) => Promise<Response>;

/**
 * `fetch` for a service that is configured by people. An address is checked when the connection to it is made, so that a name
 * cannot resolve to another address than the checked one; redirects are not followed, and a response is bounded.
 */
export function createFilteredFetch({
  origin,
  allowPrivate,
  timeoutMs,
  maxBytes,
}: FilteredFetchSettings): FilteredFetch {
  const filter = { allowPrivateIPAddress: allowPrivate, allowMetaIPAddress: false };
  const agents = { http: new RequestFilteringHttpAgent(filter), https: new RequestFilteringHttpsAgent(filter) };

  return async (address, { method = 'GET', headers = {}, body } = {}) => {
    const url = new URL(address);
    if (url.origin !== origin) {
      throw new ForbiddenAddressError(`The service at ${origin} names an address of ${url.origin}.`);
    }
    const secure = url.protocol === 'https:';
    return new Promise<Response>((resolve, reject) => {
      const fail = (error: Error): void =>
        reject(/is not allowed/.test(error.message) ? new ForbiddenAddressError(error.message) : error);
      const request = (secure ? requestHttps : requestHttp)(
        url,
        {
          method,
          agent: secure ? agents.https : agents.http,
          signal: AbortSignal.timeout(timeoutMs),
          headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        },
        (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > maxBytes) {
              response.destroy(new Error(`The response has more than ${maxBytes} bytes.`));
            }
            chunks.push(chunk);
          });
          response.once('error', fail);
          response.once('end', () => {
            const { statusCode: status = 500, rawHeaders } = response;
            const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]]] : []));
            const empty = status === 204 || status === 304;
            const received = new Response(empty ? null : Buffer.concat(chunks), {
              status,
              headers: pairs as [string, string][],
            });
            // As `fetch` has it; one that was made by hand has none.
            resolve(Object.defineProperty(received, 'url', { value: url.href }));
          });
        },
      );
      request.once('error', fail);
      request.end(body);
    });
  };
}
