import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { scriptAgent } from '../support/caller';
import { openTab, startBrowser } from '../support/page/browser';
import { aRepository } from '../support/page/repository';
import { type Stack, startStack } from '../support/stack/stack';

describe('approvals on the page', () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), startBrowser()]);
    await stack.call.ok('POST', '/api/config/repos', { name: 'shop', path: await aRepository(stack.dir) });
  });
  afterAll(async () => {
    await browser.close();
    await stack.close();
  });

  test('are approved, rejected and answered, and the run continues with the decisions', async () => {
    const questions = [
      { id: 'one', action: 'deploy to staging', actionClass: 'network', risk: 'high' },
      { id: 'two', action: 'delete the database', actionClass: 'shell', risk: 'critical' },
      { id: 'three', action: 'Which colour?', actionClass: 'elicitation', risk: 'low' },
    ];
    await stack.call.configureAgents([scriptAgent('asking-bee', JSON.stringify(questions))]);
    const { page, problems } = await openTab(browser, stack.url);
    await page.goto('/approvals');
    await page.getByText('Nothing waits for a decision').waitFor();
    const { id } = await stack.call.createTask({ title: 'Ask', git: { repo: 'shop' } });
    await stack.call.start(id);

    const card = (action: string) => page.getByRole('article', { name: action });
    await card('deploy to staging').getByRole('button', { name: 'Approve' }).click();
    await card('delete the database').getByLabel('Note on the decision').fill('never');
    await card('delete the database').getByRole('button', { name: 'Reject' }).click();
    expect(await card('Which colour?').getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await card('Which colour?').getByLabel('Response as a JSON object').fill('{"colour": "green"}');
    await card('Which colour?').getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Nothing waits for a decision').waitFor();

    const { attempt, taskEnvelope } = await stack.call.ended(id);
    expect(attempt.completion.summary).toBe('one=approved; three=approved colour; two=rejected (never)');
    expect(existsSync(join(taskEnvelope.workspace.path, 'one.txt'))).toBe(true);
    expect(existsSync(join(taskEnvelope.workspace.path, 'two.txt'))).toBe(false);
    expect(problems).toEqual([]);
  });
});
