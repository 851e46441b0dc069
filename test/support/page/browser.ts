import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const executables = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Nothing of the browser calls anyone but the service under test. */
const args = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The sandbox of the browser refuses the user of containers.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

/**
 * Starts the browser of this machine.
 *
 * @throws Error when there is none: a suite that skips the browser proves nothing
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = executables.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) {
    throw new Error('There is no Chromium. Install it (apt-get install chromium), or name one in CHROMIUM.');
  }
  return chromium.launch({ executablePath, args });
}

/** A tab, and the problems it has reported: errors of scripts, and what the Content-Security-Policy has refused. */
export interface Tab {
  page: Page;
  context: BrowserContext;
  problems: string[];
  close: () => Promise<void>;
}

export async function openTab(
  browser: Browser,
  baseURL: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Tab> {
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // A refused request is the answer that a test asks for, and a service that is away is too.
    if (
      message.type() === 'error' &&
      !/Failed to load resource|WebSocket connection|ERR_CONNECTION/.test(message.text())
    ) {
      problems.push(message.text());
    }
  });
  return { page, context, problems, close: () => context.close() };
}
