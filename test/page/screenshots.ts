/** Takes the pictures of the page for README and docs (`npm run docs:screenshots`): into docs/images, from a service of its own. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '../../platform/testing/eventually';
import { openTab, startBrowser } from '../support/page/browser';
import { aRepository } from '../support/page/repository';
import { startService } from '../support/stack/service';

const root = join(__dirname, '..', '..');
const images = join(root, 'docs', 'images');
const exampleAgent = join(root, 'examples', 'agent', 'agent.mjs');

const tasks = [
  ['Cache prices per currency', 'todo', 'medium'],
  ['Upgrade the payment client', 'todo', 'high'],
  ['Document the return policy', 'todo', 'low'],
  ['Rate limit the login route', 'in-progress', 'critical'],
  ['Move the cart to a worker', 'blocked', 'high'],
  ['Fix the checkout test', 'done', 'medium'],
  ['Trim unused icons', 'done', 'low'],
] as const;

interface Pictured {
  taskId: string;
  attemptId: string;
  runId: string;
}

async function takePictures(page: Page, { taskId, attemptId, runId }: Pictured): Promise<void> {
  const take = async (name: string, path: string) => {
    await page.goto(path);
    await page.waitForLoadState('networkidle');
    await page.getByText('Connecting …').waitFor({ state: 'detached' });
    await page.screenshot({ path: join(images, `page-${name}.png`) });
    process.stderr.write(`docs/images/page-${name}.png\n`);
  };
  await take('board', '/');
  await take('task', `/tasks/${taskId}`);
  await take('run', `/tasks/${taskId}/runs/${attemptId}`);
  await take('fleet', '/fleet');
  await take('workflow', `/workflows/runs/${runId}`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await take('diff', `/tasks/${taskId}/diff`);
}

async function main(): Promise<void> {
  await mkdir(images, { recursive: true });
  const service = await startService();
  const browser = await startBrowser();
  try {
    const { call } = service;
    await call.ok('POST', '/api/config/repos', { name: 'shop', path: await aRepository(service.dir) });
    await call.configureAgents([
      { type: 'example', name: 'Example', provider: 'process', command: process.execPath, args: [exampleAgent] },
    ]);
    for (const [title, status, priority] of tasks) {
      await call.createTask({ title, status, priority, project: 'shop' });
    }
    const { id } = await call.createTask({
      title: 'Add clamp and chunk helpers',
      priority: 'high',
      project: 'shop',
      description: 'Two helpers with tests.\n\n- [ ] add clamp(value, low, high)\n- [ ] add chunk(list, size)',
      git: { repo: 'shop' },
      executionPolicy: { review: 'required' },
    });
    const { attemptId } = await call.start(id, { agent: 'example' });
    await call.ended(id);
    await call.ok('POST', '/api/workflows', {
      id: 'release',
      name: 'Release',
      agents: [{ id: 'coder', agent: 'example' }],
      steps: [
        { id: 'plan', type: 'gate', input: 'Release 1.4.0 today?' },
        { id: 'check', type: 'gate', input: 'Are the notes written?' },
        { id: 'build', type: 'agent', agent: 'coder', input: 'Build the release.' },
      ],
    });
    const { id: runId } = await call.ok('POST', '/api/workflows/release/runs', {});
    const read = () => call.ok('GET', `/api/workflows/runs/${runId}`);
    await eventually(async () =>
      (await read()).currentStep === 'plan' ? undefined : Promise.reject(new Error('not yet')),
    );
    await call.ok('POST', `/api/workflows/runs/${runId}/steps/plan/approve`, { comment: 'Yes.' });
    await eventually(async () =>
      (await read()).currentStep === 'check' ? undefined : Promise.reject(new Error('not yet')),
    );
    const { page } = await openTab(browser, service.apiUrl, { viewport: { width: 1180, height: 720 } });
    await takePictures(page, { taskId: id, attemptId, runId });
  } finally {
    await browser.close();
    await service.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
