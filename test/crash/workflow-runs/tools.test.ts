import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { aProviderWithCatalog } from '../../services/workflow-runs/models-under-test';
import { callerSettings, tokenOf } from '../../services/workflow-runs/service-under-test';
import { ledgerProgram } from '../../support/factories/tool-server';
import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';
import { type Stack, startStack } from '../../support/stack/stack';

let files: TempDir;
let ledger: string;
beforeAll(async () => {
  files = await makeTempDir('crash-workflow-tools');
  ledger = join(files.path, 'ledger');
});
afterAll(() => files.remove());

const written = (line: string): number =>
  existsSync(ledger)
    ? readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((each) => each === line).length
    : 0;
const definition = () => ({
  ...{ id: 'ledger', displayName: 'Ledger', transport: ledgerProgram(ledger) },
  approvalRequiredTools: ['careful'],
});
const open = () => writeFileSync(`${ledger}.open`, '');
const slow = { withinMs: 120_000 };

/** Calls the service as a user, whatever the answer. */
const callerOf =
  (service: Service) =>
  async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${service.serviceUrls['workflow-runs']}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, unknown>;
  };

describe('kill -9 while a workflow run calls a tool', () => {
  it('of the service that waits for the call, or for that of a model: each tool is called once, each turn asked once', async () => {
    const models = await aProviderWithCatalog();
    let asked = 0;
    models.provider.answers(() => {
      asked += 1;
      return [asked === 1 ? { tool: 'ledger__hold', id: 'c1', input: { line: 'model' } } : 'Done.'];
    });
    const board: Stack = await startStack();
    let service: Service | undefined;
    try {
      await board.call.ok('POST', '/api/tool-servers', definition());
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', WORKFLOW_RUNS_BOARD_URL: board.url, ...models.settings, ...callerSettings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const call = callerOf(running);
      const { id } = await call('/runs', {
        dot_source:
          'digraph { start -> a -> exit; a [type=tool, server=ledger, tool=hold, arguments="{\\"line\\": \\"service\\"}"] }',
      });
      await eventually(() => expect(written('hold service')).toBe(1), slow);
      killPart(running, 'workflow-runs');
      open();
      await eventually(
        async () => expect(await call(`/runs/${String(id)}`)).toMatchObject({ status: 'completed' }),
        slow,
      );
      expect(await call(`/runs/${String(id)}/context`)).toMatchObject({ a_output: 'wrote service' });
      expect(written('hold service')).toBe(1);
      rmSync(`${ledger}.open`);
      const prompted = await call('/runs', {
        dot_source: 'digraph { start -> a -> exit; a [prompt="Do it", model=small, tools="ledger/hold"] }',
      });
      await eventually(() => expect(written('hold model')).toBe(1), slow);
      killPart(running, 'workflow-runs');
      open();
      await eventually(
        async () => expect(await call(`/runs/${String(prompted.id)}`)).toMatchObject({ status: 'completed' }),
        slow,
      );
      expect(await call(`/runs/${String(prompted.id)}/context`)).toMatchObject({ a_output: 'Done.' });
      expect([written('hold model'), asked]).toEqual([1, 2]);
    } finally {
      rmSync(`${ledger}.open`, { force: true });
      await service?.close();
      await models.close();
      await board.close();
    }
  });

  it('of the service while a session calls a tool, or waits for its approval: each is called once, each round asked once', async () => {
    const models = await aProviderWithCatalog();
    let asked = 0;
    const answers = [
      { tool: 'ledger__hold', id: 'c1', input: { line: 'session' } },
      { tool: 'ledger__careful', id: 'c2', input: { line: 'session' } },
      'Done.',
    ];
    models.provider.answers(() => [answers[asked++]!]);
    const board: Stack = await startStack();
    let service: Service | undefined;
    try {
      await board.call.ok('POST', '/api/tool-servers', definition());
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', WORKFLOW_RUNS_BOARD_URL: board.url, ...models.settings, ...callerSettings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const call = callerOf(running);
      const { id } = await call('/sessions', { content: 'Do it', model: 'small', tools: ['ledger'] });
      await eventually(() => expect(written('hold session')).toBe(1), slow);
      killPart(running, 'workflow-runs');
      open();
      const approval = await eventually(async () => {
        const [found] = await board.call.ok('GET', '/api/agents/permissions/approvals');
        expect(found).toMatchObject({ details: { arguments: { line: 'session' } } });
        return found.id as string;
      }, slow);
      killPart(running, 'workflow-runs');
      await board.call.ok('POST', `/api/agents/permissions/approvals/${approval}`, { decision: 'approved' });
      await eventually(async () => {
        const { turns } = await call(`/sessions/${String(id)}`);
        expect(turns).toMatchObject([
          { kind: 'user', content: 'Do it' },
          { kind: 'tool', tools: [{ tool_name: 'ledger/hold', result: '"wrote session"', is_error: false }] },
          { kind: 'tool', tools: [{ tool_name: 'ledger/careful', result: '"wrote session"', is_error: false }] },
          { kind: 'assistant', content: 'Done.' },
        ]);
      }, slow);
      expect([written('hold session'), written('careful session'), asked]).toEqual([1, 1, 3]);
    } finally {
      rmSync(`${ledger}.open`, { force: true });
      await service?.close();
      await models.close();
      await board.close();
    }
  });

  it('of the worker and the API of the board: nothing is called twice, and a lost response is an unknown outcome', async () => {
    const service = await startService({}, { restart: soonAgain });
    try {
      const { call } = service;
      await call.ok('POST', '/api/tool-servers', definition());
      const tool = (id: string, name: string, fields: object = {}) => ({
        ...{ id, type: 'tool', server: 'ledger', tool: name, arguments: { line: id } },
        ...fields,
      });
      const steps = [
        tool('approved', 'careful'),
        tool('lost', 'hold', { on_fail: { retry: 2, retry_delay_ms: 1, escalate_to: 'skip' } }),
        tool('last', 'append'),
      ];
      const agents = [{ id: 'coder', agent: 'elsewhere' }];
      await call.ok('POST', '/api/workflows', { id: 'flow', name: 'Flow', agents, steps });
      const { id } = await call.ok('POST', '/api/workflows/flow/runs', {});
      const read = () => call.ok('GET', `/api/workflows/runs/${id}`);
      const approval = await eventually(async () => {
        const { steps: states } = await read();
        expect(states[0]).toMatchObject({ status: 'blocked', approvalId: expect.any(String) });
        return states[0].approvalId as string;
      }, slow);
      killPart(service, 'worker');
      killPart(service, 'api');
      await persistently(async () => {
        const reviewed = await call.post(`/api/agents/permissions/approvals/${approval}`, { decision: 'approved' });
        expect([200, 409]).toContain(reviewed.status);
      });
      await eventually(() => expect(written('hold lost')).toBe(1), slow);
      killPart(service, 'worker');
      await eventually(async () => expect(await read()).toMatchObject({ status: 'completed' }), slow);
      open();
      expect(await read()).toMatchObject({
        context: { lost_status: 'unknown', last_output: 'wrote last' },
        steps: [{ status: 'completed', retries: 0 }, { status: 'failed', retries: 0 }, { status: 'completed' }],
      });
      expect([written('careful approved'), written('hold lost'), written('append last')]).toEqual([1, 1, 1]);
    } finally {
      await service.close();
    }
  });
});
