import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { eventually } from '../../platform/testing/eventually';
import { scriptAgent } from '../support/caller';
import { openTab, startBrowser } from '../support/page/browser';
import { aRepository } from '../support/page/repository';
import { killPart, type Service, soonAgain, startService } from '../support/stack/service';

const exampleAgent = join(__dirname, '..', '..', 'examples', 'agent', 'agent.mjs');

describe('live run on the page', () => {
  let service: Service;
  let browser: Browser;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startService({}, { restart: soonAgain }), startBrowser()]);
    await service.call.ok('POST', '/api/config/repos', { name: 'shop', path: await aRepository(service.dir) });
    await service.call.configureAgents([
      scriptAgent('worker-bee', '200', '50'),
      { ...scriptAgent('worker-bee', '100000', '50'), type: 'long-bee' },
      { type: 'example', name: 'Example', provider: 'process', command: process.execPath, args: [exampleAgent] },
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  const aRun = async (agent: string) => {
    const { id } = await service.call.createTask({ title: `Run of ${agent}`, git: { repo: 'shop' } });
    const { attemptId } = await service.call.start(id, { agent });
    return { id: id as string, attemptId: attemptId as string, path: `/tasks/${id}/runs/${attemptId}` };
  };

  test('shows every event once, although the api is killed meanwhile', async () => {
    const { id, attemptId, path } = await aRun('worker-bee');
    const { page, problems, close } = await openTab(browser, service.apiUrl);
    await page.goto(path);
    await page.getByText(/^[1-9]\d* events?/).waitFor();
    killPart(service, 'api');
    await page.getByText(/Connection lost/).waitFor();
    await eventually(async () => expect((await fetch(`${service.apiUrl}/health`)).status).toBe(200));
    await service.call.ended(id);
    const events = await service.call.events(id, attemptId);
    await page.getByText(`${events.length} events`, { exact: true }).waitFor();
    await page.getByText('Success', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test('asks again for the events that the board could not read', async () => {
    const { id, attemptId, path } = await aRun('worker-bee');
    const { page, problems, close } = await openTab(browser, service.apiUrl);
    let refused = 0;
    await page.routeWebSocket(/\/ws/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => {
        if (refused < 2 && String(text).includes(attemptId)) {
          refused += 1;
          socket.send(
            JSON.stringify({ type: 'error', requestType: null, code: 'INTERNAL_ERROR', message: 'Try again.' }),
          );
        } else {
          server.send(text);
        }
      });
    });
    await page.goto(path);
    await service.call.ended(id);
    const events = await service.call.events(id, attemptId);
    await page.getByText(`${events.length} events`, { exact: true }).waitFor();
    expect(refused).toBe(2);
    expect(problems).toEqual([]);
    await close();
  });

  test('shows a partial result as one, and what was missing, on the board and with the task', async () => {
    const { id } = await service.call.createTask({
      title: 'Write a poem',
      description: '- [ ] add slugify(text)\n- [ ] a poem',
      git: { repo: 'shop' },
    });
    await service.call.start(id, { agent: 'example' });
    await service.call.ended(id);
    const { page, problems, close } = await openTab(browser, service.apiUrl);
    await page.goto('/');
    const card = page.locator(`[data-card="${id}"]`);
    await card.getByText('Partial', { exact: true }).waitFor();
    await card.getByText('I do not know how to do this: a poem').waitFor();
    await card.click();
    await page.getByText('I do not know how to do this: a poem').waitFor();
    await eventually(async () => expect(await page.getByText('Partial', { exact: true }).count()).toBe(2));
    expect(problems).toEqual([]);
    await close();
  });

  test('plots no duration for days without a run, and calls the parts of the service by their names', async () => {
    const { page, problems, close } = await openTab(browser, service.apiUrl);
    await page.goto('/metrics');
    const means = page.getByRole('table', { name: 'Mean duration of runs' }).getByRole('cell');
    await means.first().waitFor();
    expect(await means.first().innerText()).toBe('mean: –');
    expect(await means.last().innerText()).toMatch(/^mean: [1-9]/);
    await page.goto('/fleet');
    await page.getByRole('listitem').filter({ hasText: 'Circuit breakers' }).getByText('all closed').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Disk' })
      .getByText(/ [GT]iB free, 100\.0 MiB required$/)
      .waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  test('stops a run after it was asked whether to', async () => {
    const { id, path } = await aRun('long-bee');
    const { page, problems, close } = await openTab(browser, service.apiUrl);
    await page.goto(path);
    await page.getByText('Running', { exact: true }).waitFor();
    await page.keyboard.press('x');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop the run' }).click();
    await page.getByText('Interrupted', { exact: true }).waitFor();
    await service.call.ended(id);
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });
});
