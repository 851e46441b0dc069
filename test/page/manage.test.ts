import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '../../platform/testing/eventually';
import { scriptAgent } from '../support/caller';
import { anEditorRun, aTurn } from '../support/git/rewinds';
import { seriousFindings } from '../support/page/axe';
import { openTab, startBrowser, type Tab } from '../support/page/browser';
import { aRepository } from '../support/page/repository';
import { adminKey, type SecuredStack, startSecuredStack } from '../support/stack/secured-stack';

describe('managing on the page', () => {
  let secured: SecuredStack;
  let browser: Browser;
  let tab: Tab;
  let page: Page;

  beforeAll(async () => {
    [secured, browser] = await Promise.all([
      startSecuredStack({ BOARD_CHECKPOINT_INTERVAL_MS: '200', BOARD_RETRY_BACKOFF_MS: '60000' }),
      startBrowser(),
    ]);
    const { admin, stack } = secured;
    await admin.addRepository('sample', await aRepository(stack.dir));
    await admin.configureAgents([
      scriptAgent('editor'),
      { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await secured.stack.close();
  });
  beforeEach(async () => {
    tab = await openTab(browser, secured.stack.url);
    ({ page } = tab);
    await page.goto('/login?to=%2F');
    await page.getByRole('button', { name: 'Use an API key' }).click();
    await page.getByLabel('API key or token').fill(adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Board' }).waitFor();
  });
  afterEach(async () => {
    expect(tab.problems).toEqual([]);
    await tab.close();
  });

  const isSound = async () => expect(await seriousFindings(page)).toEqual([]);

  test('takes tasks to the backlog and the archive, and back to the board', async () => {
    const { admin } = secured;
    const later = await admin.createTask({ title: 'Paint the door', description: 'In green.' });
    const done = await admin.createTask({ title: 'Mend the door', status: 'done' });
    await page.goto(`/tasks/${later.id}`);
    await page.getByRole('button', { name: 'To the backlog' }).click();
    await page.waitForURL('**/backlog');
    await page.getByText('Paint the door', { exact: true }).click();
    await page.getByText('In green.').waitFor();
    await isSound();
    await page.getByLabel('Search the backlog').fill('window');
    await page.getByText('No task has these words').waitFor();
    await page.getByLabel('Search the backlog').fill('green');
    await page.getByRole('button', { name: 'To the board: Paint the door' }).click();
    await page.waitForURL(`**/tasks/${later.id}`);
    expect((await admin.ok('GET', `/api/tasks/${later.id}`)).title).toBe('Paint the door');

    await page.goto(`/tasks/${done.id}`);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.waitForURL('**/archive');
    await page.getByRole('button', { name: 'Restore: Mend the door' }).waitFor();
    await isSound();
    await page.getByRole('button', { name: 'Restore: Mend the door' }).click();
    await page.waitForURL(`**/tasks/${done.id}`);
    await page.goto('/archive');
    await page.getByText('Nothing is archived').waitFor();
  });

  test('turns policies off and on, and removes them after a question', async () => {
    const { admin } = secured;
    const policy = {
      ...{ id: 'no-merge', type: 'block-action-type', name: 'No merge', responseAction: 'block' },
      config: { actionTypes: ['merge'] },
      scope: { projects: ['shop'] },
    };
    await admin.ok('POST', '/api/policies', policy);
    await page.goto('/settings');
    await page.getByText('in shop').waitFor();
    await page.getByRole('button', { name: 'Turn off No merge' }).click();
    await page.getByRole('button', { name: 'Turn on No merge' }).waitFor();
    expect(await admin.ok('GET', '/api/policies/no-merge')).toMatchObject({ ...policy, enabled: false });
    await page.getByRole('button', { name: 'Turn on No merge' }).click();
    await page.getByRole('button', { name: 'Turn off No merge' }).waitFor();
    await page.getByRole('button', { name: 'Remove No merge' }).click();
    await isSound();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove No merge' }).waitFor({ state: 'detached' });
    expect((await admin.get('/api/policies/no-merge')).status).toBe(404);
  });

  test('invites people and makes keys, whose secrets are shown once', async () => {
    const { admin, stack } = secured;
    await page.goto('/settings');
    await page.getByLabel('Address of the person to invite').fill('bob@example.com');
    await page.getByLabel('Role of the invited person').selectOption('read-only');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByText('Give bob@example.com this code').waitFor();
    await page.getByText('invited as read-only').waitFor();
    await page.getByLabel('Name of the new key').fill('ci');
    await page.getByRole('button', { name: 'Make a key' }).click();
    const secret = page.getByText('The key ci; it is shown once.').locator('..').getByRole('button');
    const key = (await secret.textContent()) ?? '';
    const answered = await fetch(`${stack.url}/api/tasks`, { headers: { 'X-API-Key': key } });
    expect(answered.status).toBe(200);
    await isSound();
    await page.getByRole('button', { name: 'Revoke the key ci' }).click();
    await page.getByRole('button', { name: 'Revoke the key ci' }).waitFor({ state: 'detached' });
    expect((await fetch(`${stack.url}/api/tasks`, { headers: { 'X-API-Key': key } })).status).toBe(401);
    await page.getByRole('button', { name: 'Revoke the invitation of bob@example.com' }).click();
    await page.getByText('invited as').waitFor({ state: 'detached' });
    const [invitation] = await admin.ok('GET', '/api/identity/workspaces/local/invitations');
    expect(invitation.state).toBe('revoked');
  });

  test('drains a host with a reason, and resumes it', async () => {
    const { admin } = secured;
    await page.goto('/fleet');
    await page.getByRole('button', { name: /^Drain / }).click();
    await page.getByLabel('Why (optional)').fill('A new disk');
    await isSound();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain the host' }).click();
    await page.getByText(': A new disk').waitFor();
    await isSound();
    const drained = await admin.ok('GET', '/api/agents/hosts');
    expect(drained.hosts[0].drain).toMatchObject({ reason: 'A new disk' });
    await page.getByRole('button', { name: /^Resume / }).click();
    await page.getByRole('button', { name: /^Drain / }).waitFor();
  });

  test('names the versions of workers, and the recoveries under way as they come, and once they are gone', async () => {
    const { admin } = secured;
    await page.goto('/fleet');
    await page.getByText(/, version \d+\.\d+\.\d+/).waitFor();
    await page.getByText('None: no run that failed waits').waitFor();
    const { id } = await admin.createTask({ title: 'Ask again', git: { repo: 'sample' } });
    const { attemptId } = await admin.start(id, { agent: 'limited' });
    await page.getByRole('link', { name: id }).waitFor();
    await isSound();
    await admin.ok('POST', `/api/agents/${id}/recovery/cancel`, { attemptId });
    await page.getByText('None: no run that failed waits').waitFor();
  });

  test('rewinds the worktree of a run after an approval', async () => {
    const { admin } = secured;
    const run = await anEditorRun(admin);
    const target = await aTurn(admin, run, 'write a.txt one', { 'a.txt': 'one' });
    await aTurn(admin, run, 'write a.txt two', { 'a.txt': 'two' });
    await page.goto(`/tasks/${run.taskId}/runs/${run.attemptId}`);
    await page.getByRole('button', { name: `Rewind to checkpoint ${target.number}`, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Plan the rewind' }).click();
    await dialog.getByText('An administrator approves it').waitFor();
    await isSound();
    expect(await readFile(join(run.path, 'a.txt'), 'utf8')).toBe('two\n');
    const [approval] = await admin.ok('GET', '/api/run-approvals?status=pending');
    await admin.ok('POST', `/api/run-approvals/${approval.id}/decision`, {
      ...{ decision: 'approved', expectedRevision: approval.revision, expectedActionHash: approval.actionHash },
    });
    await dialog.getByRole('button', { name: 'Rewind as approved' }).click();
    await dialog.waitFor({ state: 'detached' });
    await eventually(async () => expect(await readFile(join(run.path, 'a.txt'), 'utf8')).toBe('one\n'));
    await admin.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  });
});
