import type { IncomingMessage, RequestListener } from 'node:http';
import inject from 'light-my-request';

/** Headers of a request that are about its own body and connection, or that name it; a request within it has others. */
const ownHeaders = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect', 'range'],
  ...['idempotency-key', 'x-idempotency-key', 'x-resource-revision'],
]);
/** Of the content of the request or its response, or of its conditions. */
const isOfContent = (name: string): boolean => /^(?:content-|accept|if-)/.test(name);

/** Statuses whose response has no body. */
const withoutBody = new Set([204, 205, 304]);

/** Sends requests to this API itself, without a connection: for what serves a caller by several operations. */
export class InnerRequests {
  private serve: RequestListener | undefined;

  /** Where requests go, once the API is put together. */
  connect(serve: RequestListener): void {
    this.serve = serve;
  }

  /**
   * Sends requests for the caller of one that is being served: with its headers and from its address, so that each is
   * authenticated, limited, permitted and audited as if the caller had sent it.
   */
  sendFor({ headers, socket }: IncomingMessage): (request: Request) => Promise<Response> {
    const callers = Object.entries(headers).filter(([name]) => !ownHeaders.has(name) && !isOfContent(name));
    const { remoteAddress, localAddress, localPort } = socket;
    const dispatch: RequestListener = (request, response) => {
      // The socket of an injected request is a stand-in; an address that is unknown stays so, and is not this machine's.
      Object.assign(request.socket, { remoteAddress, localAddress, localPort });
      // Its body is whole, which a body over a connection may not be.
      Object.assign(request, { complete: true });
      this.served(request, response);
    };
    return async (request) => {
      const { pathname, search } = new URL(request.url);
      const payload = Buffer.from(await request.arrayBuffer());
      const response = await inject(dispatch, {
        method: request.method as 'GET',
        url: pathname + search,
        headers: { ...Object.fromEntries(request.headers), ...Object.fromEntries(callers) },
        ...(payload.length > 0 && { payload }),
        signal: request.signal,
      });
      const body = withoutBody.has(response.statusCode) ? undefined : new Uint8Array(response.rawPayload);
      const received = Object.entries(response.headers).map(
        ([name, value]) => [name, String(value)] as [string, string],
      );
      return new Response(body, { status: response.statusCode, headers: received });
    };
  }

  private served: RequestListener = (request, response) => {
    if (!this.serve) {
      throw new Error('The API is not served yet.');
    }
    this.serve(request, response);
  };
}
