import type { Browser } from 'playwright-core';
import { openTab, startBrowser, type Tab } from '../support/page/browser';
import { type Stack, startStack } from '../support/stack/stack';

describe('page while the service is away', () => {
  let stack: Stack;
  let browser: Browser;
  let tab: Tab;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await stack.close();
  });
  beforeEach(async () => {
    tab = await openTab(browser, stack.url);
  });
  afterEach(() => tab.close());

  test('opens a view that was not opened before, and reports that a change may not have been made', async () => {
    const { page } = tab;
    const loaded = page.waitForResponse(/\/assets\/approvals-view-.*\.js$/);
    await page.goto('/');
    await page.getByRole('heading', { name: 'Board' }).waitFor();
    await loaded;
    await page.waitForLoadState('networkidle');
    await page.route('**/*', (route) => route.abort());
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();

    await page.getByRole('link', { name: 'Board' }).click();
    await page.getByRole('button', { name: 'New task' }).first().click();
    await page.getByLabel('Title').fill('Lost');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('not known whether the change was made').waitFor();
    expect(await page.getByText('It is tried again').count()).toBe(0);
  });

  test('keeps the navigation where a view cannot be loaded, and loads it once the service is back', async () => {
    const { page } = tab;
    const isAway = /\/assets\/approvals-view-|\/health\/live$/;
    await page.route(isAway, (route) => route.abort());
    await page.goto('/');
    await page.getByRole('heading', { name: 'Board' }).waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    const problem = page.getByRole('main').getByRole('alert');
    await problem.getByText('could not be loaded').waitFor();
    await page.getByRole('link', { name: 'Fleet' }).click();
    await page.getByRole('heading', { name: 'Fleet' }).waitFor();

    await page.getByRole('link', { name: 'Approvals' }).click();
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('once the service responds').waitFor();
    await page.unroute(isAway);
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
  });
});
