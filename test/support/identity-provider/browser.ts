import { request } from 'node:http';

/** A page, or whatever else a browser was sent in the end. */
export interface Page {
  url: URL;
  status: number;
  headers: Headers;
  text: string;
}

interface Cookie {
  value: string;
  path: string;
  sameSite: string;
}

interface Navigation {
  method: 'GET' | 'POST';
  body?: URLSearchParams;
  /** The origin of the page that navigates; a typed address has none. */
  initiator?: string | undefined;
}

const maxRedirects = 10;

/**
 * What of a browser a sign-in depends on: cookies by host with their path and `SameSite`, redirects, pages that lead on by
 * themselves, forms, and `Sec-Fetch-*`. As in a browser, a port is part of the origin and not of the site.
 */
export class Browser {
  private readonly cookies = new Map<string, Map<string, Cookie>>();

  /** @param heldPath a redirect to this path is not followed: its address is that of the page */
  constructor(private readonly heldPath?: string) {}

  /** Goes to a typed address. */
  open = (url: string | URL): Promise<Page> => this.navigate(new URL(url), { method: 'GET' });

  /** Follows a link, or what else leads away, on a page. */
  follow = (page: Page, url: string | URL): Promise<Page> =>
    this.navigate(new URL(url, page.url), { method: 'GET', initiator: page.url.origin });

  /** Opens an address as the redirect of a page of another site does. */
  openFrom = (initiator: string, url: string | URL): Promise<Page> =>
    this.navigate(new URL(url), { method: 'GET', initiator });

  /** Submits the form of a page with further values. */
  async submit(page: Page, values: Record<string, string> = {}): Promise<Page> {
    const action = /<form[^>]*action="([^"]+)"/.exec(page.text)?.[1];
    if (action === undefined) {
      throw new Error(`${page.url.href} (${page.status}) has no form: ${page.text.slice(0, 500)}`);
    }
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const body = new URLSearchParams(hidden.map(([, name = '', value = '']): [string, string] => [name, value]));
    for (const [name, value] of Object.entries(values)) {
      body.set(name, value);
    }
    return this.navigate(new URL(action, page.url), { method: 'POST', body, initiator: page.url.origin });
  }

  /** Calls the service as a page of its own origin does. */
  async call(url: string | URL, init: { method?: string; body?: unknown } = {}): Promise<Response> {
    const target = new URL(url);
    return fetch(target, {
      method: init.method ?? 'GET',
      headers: {
        Cookie: this.cookiesFor(target, { isSameSite: true }),
        Origin: target.origin,
        'Sec-Fetch-Site': 'same-origin',
        'Sec-Fetch-Mode': 'cors',
        ...(init.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: init.body === undefined ? undefined : JSON.stringify(init.body),
    });
  }

  cookie(url: string | URL, name: string): string | undefined {
    return this.cookies.get(new URL(url).hostname)?.get(name)?.value;
  }

  setCookie(url: string | URL, name: string, value: string): void {
    this.jarOf(new URL(url).hostname).set(name, { value, path: '/', sameSite: 'lax' });
  }

  private async navigate(target: URL, { method, body, initiator }: Navigation): Promise<Page> {
    let url = target;
    let sent: { method: string; body?: URLSearchParams | undefined } = { method, body };
    // A chain of redirects is cross-site for good once it has been.
    let isSameSite = true;
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      isSameSite &&= initiator === undefined || new URL(initiator).hostname === url.hostname;
      const page = await send(url, {
        ...sent,
        headers: {
          Cookie: this.cookiesFor(url, { isSameSite, isTopLevelGet: sent.method === 'GET' }),
          'Sec-Fetch-Site': siteOf(url, initiator, isSameSite),
          'Sec-Fetch-Mode': 'navigate',
          'Sec-Fetch-Dest': 'document',
        },
      });
      this.store(url, page.headers.getSetCookie());
      const location = page.headers.get('Location');
      if (location === null) {
        return this.ledOn(page);
      }
      initiator ??= url.origin;
      url = new URL(location, url);
      if (url.pathname === this.heldPath) {
        return { ...page, url };
      }
      sent = { method: 'GET' };
    }
    throw new Error(`More than ${maxRedirects} redirects, at ${url.href}.`);
  }

  /** The page that a page leads to by itself. */
  private ledOn(page: Page): Page | Promise<Page> {
    const next = /<meta http-equiv="refresh" content="0;url=([^"]+)"/.exec(page.text)?.[1];
    return next === undefined ? page : this.follow(page, next.replaceAll('&amp;', '&'));
  }

  private jarOf(host: string): Map<string, Cookie> {
    const jar = this.cookies.get(host) ?? new Map<string, Cookie>();
    this.cookies.set(host, jar);
    return jar;
  }

  private store(url: URL, headers: string[]): void {
    const jar = this.jarOf(url.hostname);
    for (const header of headers) {
      const [pair = '', ...attributes] = header.split(';').map((part) => part.trim());
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      const of = (attribute: string) =>
        attributes.find((one) => one.toLowerCase().startsWith(`${attribute}=`))?.split('=')[1];
      const expires = of('expires');
      if (of('max-age') === '0' || (expires !== undefined && Date.parse(expires) <= Date.now())) {
        jar.delete(name);
      } else {
        jar.set(name, { value, path: of('path') ?? '/', sameSite: (of('samesite') ?? 'lax').toLowerCase() });
      }
    }
  }

  private cookiesFor(
    url: URL,
    { isSameSite, isTopLevelGet = false }: { isSameSite: boolean; isTopLevelGet?: boolean },
  ) {
    return [...this.jarOf(url.hostname)]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .filter(([, { sameSite }]) => isSameSite || (sameSite === 'lax' && isTopLevelGet))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }
}

/** `fetch` sets `Sec-Fetch-Mode` itself, and not as for a page that a browser opens. */
function send(
  url: URL,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: URLSearchParams | undefined },
): Promise<Page> {
  const text = body?.toString();
  const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(text?.length ?? 0) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers, ...(text !== undefined && form) }, agent: false });
    sent.once('error', reject).once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject).once('end', () => {
        const { statusCode: status = 0, rawHeaders } = response;
        const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]]] : []));
        resolve({
          url,
          status,
          headers: new Headers(pairs as [string, string][]),
          text: Buffer.concat(chunks).toString(),
        });
      });
    });
    sent.end(text);
  });
}

function siteOf(url: URL, initiator: string | undefined, isSameSite: boolean): string {
  if (initiator === undefined) {
    return 'none';
  }
  if (!isSameSite) {
    return 'cross-site';
  }
  return initiator === url.origin ? 'same-origin' : 'same-site';
}
