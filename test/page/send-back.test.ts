import type { Browser } from 'playwright-core';
import { scriptAgent } from '../support/caller';
import { openTab, startBrowser } from '../support/page/browser';
import { aRepository } from '../support/page/repository';
import { type Stack, startStack } from '../support/stack/stack';

describe('sending a result back on the page', () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), startBrowser()]);
    await stack.call.ok('POST', '/api/config/repos', { name: 'shop', path: await aRepository(stack.dir) });
    await stack.call.configureAgents([scriptAgent('rememberer')]);
  });
  afterAll(async () => {
    await browser.close();
    await stack.close();
  });

  test('continues the session of the agent with the message, in a run that is shown', async () => {
    const { id } = await stack.call.createTask({
      title: 'Remember',
      git: { repo: 'shop' },
      executionPolicy: { review: 'required' },
    });
    const { attemptId } = await stack.call.start(id);
    await stack.call.ended(id);
    const { page, problems } = await openTab(browser, stack.url);
    await page.goto(`/tasks/${id}/diff`);
    await page.getByText('Waits for review').waitFor();
    await page.keyboard.press('r');
    await page.getByLabel('Message').fill('Add a test.');
    await page.getByRole('dialog').getByRole('button', { name: 'Send back' }).click();
    await page.waitForURL(/\/runs\//);
    expect(page.url()).not.toContain(attemptId);
    await page
      .getByText(/follow-up of thread-7: .*Add a test\./)
      .first()
      .waitFor();
    expect(problems).toEqual([]);
  });
});
