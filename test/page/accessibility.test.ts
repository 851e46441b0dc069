import type { Browser, Page } from 'playwright-core';
import { scriptAgent } from '../support/caller';
import { seriousFindings } from '../support/page/axe';
import { openTab, startBrowser } from '../support/page/browser';
import { aRepository } from '../support/page/repository';
import { adminKey, type SecuredStack, startSecuredStack } from '../support/stack/secured-stack';

const schemes = ['light', 'dark'] as const;

describe('the page for assistive technology', () => {
  let secured: SecuredStack;
  let browser: Browser;
  let taskId: string;
  let attemptId: string;

  beforeAll(async () => {
    [secured, browser] = await Promise.all([startSecuredStack(), startBrowser()]);
    const { admin, stack } = secured;
    await admin.ok('POST', '/api/config/repos', { name: 'shop', path: await aRepository(stack.dir) });
    await admin.configureAgents([scriptAgent('as-told')]);
    const script = {
      files: { 'new.txt': 'one\ntwo\n' },
      commit: 'Work',
      say: [{ type: 'progress', message: 'half way', percent: 50 }],
      result: { status: 'success', summary: 'All done' },
    };
    const task = await admin.createTask({
      title: 'Work',
      description: JSON.stringify(script),
      git: { repo: 'shop' },
      executionPolicy: { review: 'required' },
    });
    taskId = task.id;
    ({ attemptId } = await admin.start(taskId));
    await admin.ended(taskId);
  });
  afterAll(async () => {
    await browser.close();
    await secured.stack.close();
  });

  const signIn = async (page: Page) => {
    await page.goto('/login?to=%2F');
    await page.getByRole('button', { name: 'Use an API key' }).click();
    await page.getByLabel('API key or token').fill(adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation').first().waitFor();
  };

  test.each(schemes)('has no serious findings of axe in the sign-in, %s', async (colorScheme) => {
    const { page, close } = await openTab(browser, secured.stack.url, { colorScheme });
    for (const path of ['/login', '/setup', '/recover']) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      expect([path, await seriousFindings(page)]).toEqual([path, []]);
    }
    await page.goto('/login');
    await page.getByRole('button', { name: 'Use an API key' }).click();
    await page.getByLabel('API key or token').fill('not-the-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await close();
  });

  test.each(schemes)('has no serious findings of axe in any view of the navigation, %s', async (colorScheme) => {
    const { page, problems, close } = await openTab(browser, secured.stack.url, { colorScheme });
    await signIn(page);
    const paths = ['/', '/backlog', '/archive', '/approvals', '/queue', '/workflows', '/fleet', '/metrics', '/chat'];
    for (const path of [...paths, '/audit', '/settings', `/tasks/${taskId}`]) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.waitForLoadState('networkidle');
      expect([path, await seriousFindings(page)]).toEqual([path, []]);
    }
    expect(problems).toEqual([]);
    await close();
  });

  test.each(schemes)('has no serious findings of axe in a run, its diff and dialogs, %s', async (colorScheme) => {
    const { page, problems, close } = await openTab(browser, secured.stack.url, { colorScheme });
    await signIn(page);
    await page.goto(`/tasks/${taskId}/runs/${attemptId}`);
    await page.getByText('Run completed').waitFor();
    expect(['run', await seriousFindings(page)]).toEqual(['run', []]);

    await page.goto(`/tasks/${taskId}/diff`);
    await page.getByText('Waits for review').waitFor();
    await page.getByRole('button', { name: 'Comment on line 1' }).first().waitFor();
    expect(['diff', await seriousFindings(page)]).toEqual(['diff', []]);
    for (const [key, name] of [
      ['r', 'send back'],
      ['a', 'accept'],
      ['?', 'help'],
      ['Control+k', 'commands'],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor();
      expect([name, await seriousFindings(page)]).toEqual([name, []]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.goto('/');
    await page.getByRole('button', { name: 'New task' }).first().click();
    await page.getByRole('dialog').waitFor();
    expect(['new task', await seriousFindings(page)]).toEqual(['new task', []]);
    expect(problems).toEqual([]);
    await close();
  });
});
