import type { Browser, Page } from 'playwright-core';
import { eventually } from '../../platform/testing/eventually';
import { seriousFindings } from '../support/page/axe';
import { openTab, startBrowser, type Tab } from '../support/page/browser';
import { killPart, type Service, soonAgain, startService } from '../support/stack/service';

const cards = (page: Page, column: string) => page.locator(`[data-column="${column}"] [data-card]`);
const titles = (page: Page, column: string) =>
  cards(page, column).evaluateAll((all) => all.map((card) => card.firstElementChild?.textContent));

describe('board on the page', () => {
  let service: Service;
  let browser: Browser;
  let tab: Tab;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startService({}, { restart: soonAgain }), startBrowser()]);
    for (const title of ['First', 'Second', 'Third']) {
      await service.call.createTask({ title });
    }
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  beforeEach(async () => {
    tab = await openTab(browser, service.apiUrl);
    await tab.page.goto('/');
    await tab.page.getByRole('heading', { name: 'Board' }).waitFor();
  });
  afterEach(async () => {
    const { problems } = tab;
    await tab.close();
    expect(problems).toEqual([]);
  });

  const statusOf = async (title: string) => {
    const { tasks } = await service.call.ok('GET', '/api/tasks');
    return tasks.find((task: { title: string }) => task.title === title)?.status as string;
  };

  test('moves a card by pointer to another column', async () => {
    const { page } = tab;
    await page.getByRole('link', { name: /^Second/ }).hover();
    await page.mouse.down();
    const target = (await page.locator('[data-column="in-progress"]').boundingBox())!;
    await page.mouse.move(target.x + target.width / 2, target.y + 30, { steps: 8 });
    await page.mouse.up();
    await cards(page, 'in-progress').getByText('Second').waitFor();
    await eventually(async () => expect(await statusOf('Second')).toBe('in-progress'));
    expect(new URL(page.url()).pathname).toBe('/');
  });

  test('puts a card back when the drag is cancelled', async () => {
    const { page } = tab;
    await page.getByRole('link', { name: /^First/ }).hover();
    await page.mouse.down();
    await page.mouse.move(900, 300, { steps: 5 });
    await page.keyboard.press('Escape');
    await page.mouse.up();
    expect(await titles(page, 'todo')).toContain('First');
    expect(await statusOf('First')).toBe('todo');
  });

  test('moves a card by keyboard, within its column and to another', async () => {
    const { page } = tab;
    await cards(page, 'todo').first().waitFor();
    const before = await titles(page, 'todo');
    await page.getByRole('link', { name: new RegExp(`^${before[0]}`) }).focus();
    for (const key of ['Space', 'ArrowDown', 'Space']) {
      await page.keyboard.press(key);
    }
    await eventually(async () =>
      expect(await titles(page, 'todo')).toEqual([before[1], before[0], ...before.slice(2)]),
    );
    expect(await page.locator(':focus').textContent()).toContain(before[0]);
    await page.getByRole('link', { name: /^Third/ }).focus();
    for (const key of ['Space', 'l', 'l', 'l', 'Space']) {
      await page.keyboard.press(key);
    }
    await cards(page, 'done').getByText('Third').waitFor();
    await eventually(async () => expect(await statusOf('Third')).toBe('done'));
  });

  test('moves a card again while its first move is being sent', async () => {
    const { page } = tab;
    await service.call.createTask({ title: 'Twice' });
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const answers: number[] = [];
    page.on('response', (response) => response.request().method() === 'PATCH' && answers.push(response.status()));
    await page.route('**/api/tasks/*', async (route) => {
      if (route.request().method() === 'PATCH') {
        await released;
      }
      await route.continue();
    });
    const card = page.getByRole('link', { name: /^Twice/ });
    for (const column of ['in-progress', 'blocked']) {
      await card.focus();
      for (const key of ['Space', 'l', 'Space']) {
        await page.keyboard.press(key);
      }
      await cards(page, column).getByText('Twice').waitFor();
    }
    release();
    await eventually(() => expect(answers).toEqual([200, 200]));
    expect(await statusOf('Twice')).toBe('blocked');
    await eventually(async () => expect(await titles(page, 'blocked')).toEqual(['Twice']));
  });

  test('shows what others change, filters, and keeps the filter in the address', async () => {
    const { page } = tab;
    await service.call.createTask({ title: 'Made elsewhere', project: 'shop' });
    await page.getByRole('link', { name: /^Made elsewhere/ }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('elsewhere');
    await eventually(async () => expect(await titles(page, 'todo')).toEqual(['Made elsewhere']));
    await page.reload();
    await eventually(async () => expect(await titles(page, 'todo')).toEqual(['Made elsewhere']));
  });

  test('comes back after the api was killed, with what changed meanwhile', async () => {
    const { page } = tab;
    await page.waitForLoadState('networkidle');
    killPart(service, 'api');
    await page.getByText(/Connection lost/).waitFor();
    await eventually(async () => expect((await fetch(`${service.apiUrl}/health`)).status).toBe(200));
    await service.call.createTask({ title: 'Made while it was away' });
    await page.getByText(/Connection lost/).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^Made while it was away/ }).waitFor();
  });

  test.each(['light', 'dark'] as const)('has no serious findings of axe in its views, %s', async (colorScheme) => {
    const { page } = tab;
    await page.emulateMedia({ colorScheme });
    const id = (await cards(page, 'todo').first().getAttribute('data-card'))!;
    const views = ['/', `/tasks/${id}`, '/approvals', '/queue', '/fleet', '/metrics', '/chat', '/audit', '/settings'];
    const findings: Record<string, string[]> = {};
    for (const view of views) {
      await page.goto(view);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.waitForLoadState('networkidle');
      findings[view] = await seriousFindings(page);
    }
    expect(findings).toEqual(Object.fromEntries(views.map((view) => [view, []])));
  });
});
