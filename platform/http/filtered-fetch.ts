import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { deniedAddresses } from './denied-addresses';

export interface FilteredFetchSettings {
  /** The one origin that is called: a response cannot send the caller, with its credentials, elsewhere. */
  origin: string;
  /** Whether that may have an address of a private network, or of this machine. */
  allowPrivate: boolean;
  /** Whether it may be this machine, where that differs from `allowPrivate`. */
  allowLoopback?: boolean | undefined;
  timeoutMs: number;
  /** The most of a response that is read. */
  maxBytes: number;
}

/** The request is not sent: its address is one that is never talked to. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/** Agents that check an address when they connect to it. What they are used for asserts its URL first. */
export function filteredAgents({
  allowPrivate,
  allowLoopback = allowPrivate,
}: Pick<FilteredFetchSettings, 'allowPrivate' | 'allowLoopback'>) {
  const denied = deniedAddresses({ allowLoopback });
  const filter = {
    allowPrivateIPAddress: allowPrivate,
    allowMetaIPAddress: false,
    allowIPAddressList: allowLoopback ? ['127.0.0.1', '::1'] : [],
    lookup: denied.lookup,
  };
  return {
    http: new RequestFilteringHttpAgent(filter),
    https: new RequestFilteringHttpsAgent(filter),
    /** @throws ForbiddenAddressError for the address of a host that is not resolved */
    assertAllowed(url: URL): void {
      if (denied.isHostOf(url)) {
        throw new ForbiddenAddressError(`The address of ${url.hostname} is not allowed.`);
      }
    },
  };
}

interface SentRequest {
  method?: string | undefined;
  headers?: Record<string, string> | undefined;
  body?: string | undefined;
  /** Ends the request, and the response that is being read. */
  signal?: AbortSignal | undefined;
}

export type FilteredFetch = (url: string | URL, request?: SentRequest) => Promise<Response>;

/**
 * `fetch` for a service that is configured by people. An address is checked when the connection to it is made, so that a name
 * cannot resolve to another address than the checked one; redirects are not followed, and a response is bounded.
 */
export function createFilteredFetch(settings: FilteredFetchSettings): FilteredFetch {
  const send = createFilteredStream(settings);
  return async (address, request) => {
    const response = await send(address, request);
    const { status, headers, url, body } = response;
    const received = new Response(body && (await response.arrayBuffer()), { status, headers });
    return withUrl(received, url);
  };
}

/** The same with a response that is read as it arrives: reading it fails when it exceeds the limit, or takes too long. */
export function createFilteredStream(settings: FilteredFetchSettings): FilteredFetch {
  const { origin, timeoutMs, maxBytes } = settings;
  const agents = filteredAgents(settings);

  return async (address, { method = 'GET', headers = {}, body, signal } = {}) => {
    const url = new URL(address);
    if (url.origin !== origin) {
      throw new ForbiddenAddressError(`The service at ${origin} names an address of ${url.origin}.`);
    }
    agents.assertAllowed(url);
    const secure = url.protocol === 'https:';
    const late = AbortSignal.timeout(timeoutMs);
    return new Promise<Response>((resolve, reject) => {
      const fail = (error: Error): void =>
        reject(/is not allowed/.test(error.message) ? new ForbiddenAddressError(error.message) : error);
      const request = (secure ? requestHttps : requestHttp)(
        url,
        {
          method,
          agent: secure ? agents.https : agents.http,
          signal: signal ? AbortSignal.any([late, signal]) : late,
          headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        },
        (response) => {
          try {
            resolve(withUrl(toResponse(response, maxBytes), url.href));
          } catch (error) {
            response.destroy();
            reject(new Error('The response has no status of HTTP.', { cause: error }));
          }
        },
      );
      request.once('error', fail);
      request.end(body);
    });
  };
}

/** As `fetch` has it; a response that was made by hand has none. */
const withUrl = (response: Response, url: string): Response => Object.defineProperty(response, 'url', { value: url });

function toResponse(message: IncomingMessage, maxBytes: number): Response {
  const { statusCode: status = 500, rawHeaders } = message;
  const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]]] : []));
  const isEmpty = [204, 205, 304].includes(status);
  if (isEmpty) {
    message.on('error', () => undefined).resume();
  }
  const body = isEmpty ? null : boundedBody(message, maxBytes);
  return new Response(body, { status, headers: pairs as [string, string][] });
}

/** The body as it arrives, no faster than it is read. Node's own conversion throws when a reader leaves at its end. */
function boundedBody(message: IncomingMessage, maxBytes: number): ReadableStream<Uint8Array> {
  let size = 0;
  let isOver = false;
  const once = (end: () => void): void => {
    if (!isOver) {
      isOver = true;
      end();
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: Error): void => once(() => controller.error(error));
        message.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (isOver) {
            return;
          }
          if (size > maxBytes) {
            message.destroy(new Error(`The response has more than ${maxBytes} bytes.`));
            return;
          }
          controller.enqueue(chunk);
          message.pause();
        });
        message.once('end', () => once(() => controller.close()));
        message.on('error', fail);
        message.once('close', () => fail(new Error('The response ended before it was complete.')));
        message.pause();
      },
      pull: () => void message.resume(),
      cancel: () => once(() => message.destroy()),
    },
    { highWaterMark: 0 },
  );
}
