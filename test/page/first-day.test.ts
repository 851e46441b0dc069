import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openTab, startBrowser, type Tab } from '../support/page/browser';
import { aRepository } from '../support/page/repository';
import { adminKey, type SecuredStack, startSecuredStack } from '../support/stack/secured-stack';

const exampleAgent = join(__dirname, '..', '..', 'examples', 'agent', 'agent.mjs');

describe('first day on the page', () => {
  let secured: SecuredStack;
  let browser: Browser;
  let tab: Tab;
  let repository: string;

  beforeAll(async () => {
    [secured, browser] = await Promise.all([startSecuredStack(), startBrowser()]);
    repository = await aRepository(secured.stack.dir);
    await secured.admin.ok('POST', '/api/config/repos', { name: 'shop', path: repository });
    await secured.admin.configureAgents([
      { type: 'example', name: 'Example', provider: 'process', command: process.execPath, args: [exampleAgent] },
    ]);
    tab = await openTab(browser, secured.stack.url);
  });
  afterAll(async () => {
    await browser.close();
    await secured.stack.close();
  });

  test('from the sign-in to an accepted merge', async () => {
    const { page } = tab;
    await page.goto('/approvals');
    await page.waitForURL(/\/(?:login|setup)/);
    await page.goto('/setup?to=%2F');
    await page.getByRole('link', { name: 'Use an API key instead' }).click();
    await page.getByLabel('API key or token').fill('not-the-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key or token').fill(adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Three steps to a first run').waitFor();

    await page.getByRole('button', { name: 'New task' }).first().click();
    await page.getByLabel('Title').fill('Add clamp');
    await page.getByLabel('Description').fill('- [ ] add clamp(value, low, high)');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('link', { name: /Add clamp/ }).click();
    await page.waitForURL(/\/tasks\//);
    await page.getByLabel('Review').selectOption('required');

    await page.getByRole('button', { name: 'Start a run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByText('Run completed').waitFor();
    await page.getByText('Success', { exact: true }).waitFor();

    await page.getByRole('link', { name: /diff/i }).click();
    await page.getByText('export').first().waitFor();
    await page.getByRole('button', { name: 'Comment on line 1' }).first().click();
    await page
      .getByLabel(/Comment on line 1 of/)
      .last()
      .fill('Good.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByText('Good.').waitFor();

    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click();
    await page.getByText('Accepted', { exact: true }).waitFor();
    const merged = execFileSync('git', ['ls-tree', '-r', '--name-only', 'main'], { cwd: repository, encoding: 'utf8' });
    expect(merged).toContain('src/helpers.mjs');
    await page.goto('/');
    await page
      .locator('[data-column="done"]')
      .getByRole('link', { name: /Add clamp/ })
      .waitFor();
    expect(tab.problems).toEqual([]);
  });
});
