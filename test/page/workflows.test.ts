import type { Browser } from 'playwright-core';
import { scriptAgent } from '../support/caller';
import { seriousFindings } from '../support/page/axe';
import { openTab, startBrowser } from '../support/page/browser';
import { type Stack, startStack } from '../support/stack/stack';

describe('workflows on the page', () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), startBrowser()]);
    await stack.call.configureAgents([scriptAgent('worker-bee')]);
    await stack.call.ok('POST', '/api/workflows', {
      id: 'build',
      name: 'Build it',
      agents: [{ id: 'coder', agent: 'worker-bee' }],
      steps: [{ id: 'approval', type: 'gate', input: 'Build a <b>wall</b>?' }],
    });
  });
  afterAll(async () => {
    await browser.close();
    await stack.close();
  });

  test('are started, drawn in live colours, and continue with the answer of a person', async () => {
    const { page, problems } = await openTab(browser, stack.url);
    await page.goto('/workflows');
    await page.getByText('No workflow has run yet').waitFor();
    await page.getByRole('button', { name: 'Start build' }).click();
    await page.waitForURL(/\/workflows\/runs\/\w{26}$/);
    const runId = page.url().split('/').at(-1)!;
    const question = page.getByRole('article', { name: 'Question of approval' });
    await question.getByText('Build a <b>wall</b>?').waitFor();
    await page.getByAltText('Graph: approval blocked').waitFor();
    expect(await page.evaluate('document.querySelector("img[alt^=Graph]").decode().then(() => true)')).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await question.getByLabel(/Answer/).fill('Go on.');
    await question.getByRole('button', { name: 'Approve' }).click();
    await page.getByAltText('Graph: approval completed').waitFor();
    await question.waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Cancel run' }).isDisabled()).toBe(true);
    const run = await stack.call.ok('GET', `/api/workflows/runs/${runId}`);
    expect([run.status, run.context.approval_answer ?? run.steps[0].output]).toEqual(['completed', 'Go on.']);

    await page.goto('/workflows');
    await page.getByRole('link', { name: 'build' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('are cancelled after a question, and resumed only when they failed', async () => {
    const { id } = await stack.call.ok('POST', '/api/workflows/build/runs', {});
    const { page, problems } = await openTab(browser, stack.url);
    await page.goto(`/workflows/runs/${id}`);
    await page.getByRole('article', { name: 'Question of approval' }).waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Let it run' }).click();
    expect((await stack.call.ok('GET', `/api/workflows/runs/${id}`)).status).toBe('blocked');
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('heading', { name: 'build' }).locator('..').getByText('cancelled').waitFor();
    expect(await page.getByRole('button', { name: 'Resume' }).isDisabled()).toBe(true);

    const failing = await stack.call.ok('POST', '/api/workflows/build/runs', {});
    await page.goto(`/workflows/runs/${failing.id}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('article', { name: 'Question of approval' }).waitFor();
    expect(page.url()).not.toContain(failing.id);
    expect(problems).toEqual([]);
  });
});
