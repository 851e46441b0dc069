import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runboard } from './terminal';

/** What a board with two entries of each list responds with, one in a page. */
const approvalOf = (id: string) => ({
  id,
  riskClass: 'high',
  taskId: 'task_1',
  actionHash: 'sha256:00',
  action: 'push',
});
const workflowOf = (id: string) => ({ id, version: 1, steps: 1, name: `Name of ${id}` });
const runOf = (id: string) => ({ id, status: 'running', workflowId: 'w', currentStep: null, createdAt: '2026-01-01' });
const launchOf = (id: string) => ({ id, state: 'queued', taskId: 'task_1', agent: 'a', effectivePriority: 1 });
const lists: Record<string, (id: string) => unknown> = {
  '/api/run-approvals': (id) => [approvalOf(id)],
  '/api/workflows': (id) => [workflowOf(id)],
  '/api/workflows/runs': (id) => [runOf(id)],
  '/api/admission/queue': (id) => ({ entries: [launchOf(id)], pagination: { hasMore: id === 'first' } }),
};

let board: Server;
let environment: Record<string, string>;
beforeAll(async () => {
  board = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://board');
    const isFirst = searchParams.get('limit') !== '50' && !searchParams.has('cursor');
    response.writeHead(200, { 'Content-Type': 'application/json', ...(isFirst ? { 'X-Next-Cursor': 'second' } : {}) });
    response.end(JSON.stringify(lists[pathname]?.(isFirst ? 'first' : 'last')));
  });
  await new Promise<void>((resolve) => board.listen(0, '127.0.0.1', resolve));
  environment = { RUNBOARD_URL: `http://127.0.0.1:${(board.address() as AddressInfo).port}` };
});
afterAll(() => new Promise((resolve) => board.close(resolve)));

const run = (...args: string[]) => runboard(args, { environment: { ...environment, XDG_CONFIG_HOME: '/nonexistent' } });

describe('lists of the command runboard', () => {
  it.each([[['workflow', 'list']], [['workflow', 'runs']], [['queue']]])(
    '%j reports that there are more',
    async (list) => {
      const first = await run(...list, '--limit', '1');
      expect([first.code, first.output, first.errors]).toEqual([
        0,
        expect.stringContaining('first'),
        'There are more: raise --limit, or filter.\n',
      ]);
      expect(await run(...list)).toMatchObject({ code: 0, output: expect.stringContaining('last'), errors: '' });
    },
  );

  it('approve lists every request that waits', async () => {
    const { code, output } = await run('approve');
    expect([code, output]).toEqual([0, expect.stringMatching(/first[^]*last/)]);
    const { output: json } = await run('--json', 'approve');
    expect(JSON.parse(json)).toEqual([approvalOf('first'), approvalOf('last')]);
  });

  it.each(['abc', '0', '1.5', '', '-1', '0x10', '1e2'])('a limit of "%s" is a wrong command line', async (limit) => {
    for (const list of [['task', 'list'], ['workflow', 'list'], ['workflow', 'runs'], ['queue']]) {
      const { code, errors } = await run(...list, `--limit=${limit}`);
      expect([code, errors]).toEqual([2, expect.stringContaining('whole number')]);
    }
  });
});
