import { stringify } from 'lossless-json';
import { ServiceRefusal, UnreachableError } from '../failures';
import { checkedKey, checkedUrl } from '../settings';

const defaultUrl = 'http://127.0.0.1:10101';

/** The bitmap index, which is a service of its own. */
export interface BitmapClient {
  url: string;
  /** The response as it came, with integers of 64 bits that JavaScript would round. */
  getExactly(path: string): Promise<string>;
  /** A request whose body is text, or JSON; bigints are written with all of their digits. */
  post(path: string, body: string | object): Promise<unknown>;
  /** The same; the response as it came. */
  postExactly(path: string, body: string | object): Promise<string>;
}

const refusalOf = (body: unknown): string | undefined => {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return typeof message === 'string' ? message : undefined;
};

const signIn = {
  method: 'GET' as const,
  path: '/status',
  remedy: 'Set RUNBOARD_BITMAP_TOKEN to the token that the bitmap index is started with.',
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * The service at an address: that of the option, or of `RUNBOARD_BITMAP_URL`; its token is in `RUNBOARD_BITMAP_TOKEN`.
 * `BITMAP_TOKEN`, with which the service is started, opens that on this machine.
 */
export function bitmapClient(
  environment: Record<string, string | undefined>,
  { url: stated, signal }: { url: string | undefined; signal: AbortSignal },
): BitmapClient {
  const url = checkedUrl(stated ?? environment.RUNBOARD_BITMAP_URL ?? defaultUrl);
  const given = environment.RUNBOARD_BITMAP_TOKEN ?? (url === defaultUrl ? environment.BITMAP_TOKEN : undefined);
  const token = given === undefined ? undefined : checkedKey(given, 'The token of the bitmap index');

  async function call(method: string, path: string, body?: string | object): Promise<string> {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': type }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : stringify(body) }),
      signal,
    }).catch((error: unknown) => {
      throw signal.aborted ? error : new UnreachableError(`No bitmap index answers at ${url}.`);
    });
    const text = await response.text();
    const answer = parsed(text);
    const message = refusalOf(answer);
    if (!response.ok || message !== undefined) {
      const error = message ?? (text.trim() || `The bitmap index answered ${response.status}.`);
      throw new ServiceRefusal(response.status, {
        error,
        ...(response.status === 401 ? { details: { next: signIn } } : {}),
      });
    }
    if (answer === undefined && text.trim() !== '') {
      throw new UnreachableError(`What answers at ${url} is no bitmap index.`);
    }
    return text.trim();
  }
  return {
    url,
    post: async (path, body) => parsed(await call('POST', path, body)),
    getExactly: (path) => call('GET', path),
    postExactly: (path, body) => call('POST', path, body),
  };
}
