import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { Browser } from '../../support/identity-provider/browser';
import { type Page } from '../../support/identity-provider/browser';
import { type IdentityProvider, startIdentityProvider } from '../../support/identity-provider/provider';
import { type ApiUnderTest, startTestApi } from '../api-under-test';

const clientSecret = 'the-secret-of-the-board-at-the-provider';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An API and a real provider. The API is at `localhost` and the provider at 127.0.0.1: two sites for a browser. */
export interface OidcUnderTest {
  board: ApiUnderTest;
  provider: IdentityProvider;
  publicUrl: string;
  /** Opens the sign-in and signs in at the provider. */
  signIn(browser: Browser, login: string, returnTo?: string): Promise<Page>;
  /** What the session of the browser may do. */
  context(browser: Browser): Promise<{ status: number; body: Record<string, unknown> }>;
  close(): Promise<void>;
}

export async function startOidc(settings: Record<string, string> = {}): Promise<OidcUnderTest> {
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const oidcUrl = `${publicUrl}/api/auth/oidc`;
  const provider = await startIdentityProvider([
    {
      client_id: 'board',
      client_secret: clientSecret,
      redirect_uris: [`${oidcUrl}/callback`],
      post_logout_redirect_uris: [`${oidcUrl}/signed-out`],
      backchannel_logout_uri: `http://127.0.0.1:${port}/api/auth/oidc/backchannel-logout`,
      backchannel_logout_session_required: true,
    },
    { client_id: 'another', client_secret: clientSecret, redirect_uris: [`${oidcUrl}/callback`] },
  ]);
  const board = await startTestApi({
    BOARD_PORT: String(port),
    BOARD_PUBLIC_URL: publicUrl,
    BOARD_OIDC_ISSUER: provider.issuer,
    BOARD_OIDC_CLIENT_ID: 'board',
    BOARD_OIDC_CLIENT_SECRET: clientSecret,
    BOARD_OIDC_SCOPES: 'openid profile email groups',
    BOARD_OIDC_ROLE_GROUPS: 'ops:admin,dev:agent,all:read-only',
    ...settings,
  });
  return {
    board,
    provider,
    publicUrl,
    async signIn(browser, login, returnTo = '/health') {
      const asked = await browser.open(`${oidcUrl}/login?returnTo=${encodeURIComponent(returnTo)}`);
      return atProvider(browser, asked, { login, providerUrl: provider.issuer });
    },
    async context(browser) {
      const response = await browser.call(`${publicUrl}/api/auth/context`);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    async close() {
      await board.close();
      await provider.close();
    },
  };
}

/** Fills in the forms of the provider, login and consent, until the browser is elsewhere. */
export async function atProvider(
  browser: Browser,
  first: Page,
  { login, providerUrl }: { login: string; providerUrl: string },
): Promise<Page> {
  let page = first;
  while (page.url.origin === providerUrl && page.text.includes('<form')) {
    page = await browser.submit(page, page.text.includes('name="login"') ? { login, password: 'any' } : {});
  }
  return page;
}
