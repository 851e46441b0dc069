import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { Caller } from '../../support/caller';
import { ledgerProgram } from '../../support/factories/tool-server';
import { aRepository } from '../../support/git/repository';
import { startToolRun, type ToolRun, toolUser } from '../../support/runs/tool-run';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

let service: Service;
let files: TempDir;
let ledger: string;
let run: ToolRun;

beforeAll(async () => {
  files = await makeTempDir('crash-tool-calls');
  ledger = join(files.path, 'ledger');
  service = await startService({}, { restart: soonAgain });
  const { call } = service;
  await call.addRepository('sample', await aRepository(files.path));
  const transport = ledgerProgram(ledger);
  await call.ok('POST', '/api/tool-servers', { id: 'ledger', displayName: 'Ledger', transport });
  const copy = join(files.path, 'bridge.json');
  // It outlives its worker: what is lost is the call alone.
  await call.configureAgents([{ ...toolUser(copy), reattach: true, toolServers: ['ledger'] }]);
  run = await startToolRun(call, 'tool-user', copy);
});
afterAll(async () => {
  await service.close();
  await files.remove();
});

const written = (line: string): number =>
  existsSync(ledger)
    ? readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((each) => each === line).length
    : 0;
const request = (tool: string, line: string) => ({
  taskId: run.taskId,
  attemptId: run.attemptId,
  catalogDigest: run.catalogDigest,
  operationId: `operation-${tool}-${line}`,
  serverId: 'ledger',
  tool,
  arguments: { line },
});
const path = '/api/tool-servers/call';
/** The response, once the part that was killed is there again. */
const answered = (body: object) =>
  eventually(async () => {
    const answer = await service.call.post(path, body);
    expect(answer.status).toBe(200);
    return answer.body;
  });

describe('kill -9 during a call of a tool', () => {
  it('of the API that waits: the call continues, and is answered the same when it is repeated', async () => {
    const body = request('hold', 'api');
    const waiting = service.call.post(path, body).catch(() => undefined);
    await eventually(() => expect(written('hold api')).toBe(1));
    killPart(service, 'api');
    await waiting;
    writeFileSync(`${ledger}.open`, '');
    const answer = await answered(body);
    expect(answer).toMatchObject({ state: 'completed', replayed: true });
    expect(await answered(body)).toEqual(answer);
    expect(written('hold api')).toBe(1);
    rmSync(`${ledger}.open`);
  });

  it('of the worker between the call and its response: the outcome is unknown, and it is never sent again', async () => {
    const body = request('hold', 'worker');
    const waiting = service.call.post(path, body);
    await eventually(() => expect(written('hold worker')).toBe(1));
    killPart(service, 'worker');
    await waiting;
    const answer = await answered(body);
    expect(answer).toMatchObject({ state: 'outcome-unknown', error: { code: 'response-lost' } });
    writeFileSync(`${ledger}.open`, '');

    const events = await service.call.events(run.taskId, run.attemptId);
    const mine = events.filter(({ payload }) => payload.callId === answer.id);
    expect(mine.map(({ kind, payload }) => [kind, payload.state])).toEqual([
      ['tool.started', undefined],
      ['tool.completed', 'outcome-unknown'],
    ]);

    // The next worker has adopted the agent: the former handle counts no more, and the file has another one.
    const bearing = (handle: string) => new Caller(service.apiUrl, { Authorization: `Bearer ${handle}` });
    const former = bearing(run.bridge.handle);
    await eventually(async () => expect((await former.get('/api/run-tool-bridge/catalog')).status).toBe(401));
    let tries = 0;
    await eventually(async () => {
      const { handle, ...bridge } = JSON.parse(readFileSync(run.bridge.path, 'utf8')) as ToolRun['bridge'];
      expect(handle).not.toBe(run.bridge.handle);
      expect(run.bridge).toMatchObject(bridge);
      const agent = bearing(handle);
      const operationId = `after-the-kill-${(tries += 1)}`;
      const values = { operationId, serverId: 'ledger', tool: 'append', arguments: { line: 'after' } };
      expect((await agent.post('/api/run-tool-bridge/call', values)).body).toMatchObject({ state: 'completed' });
    });
    for (const [method, route] of [
      ['GET', 'catalog'],
      ['POST', 'call'],
      ['POST', 'mcp'],
    ] as const) {
      expect(
        (await former.send(method, `/api/run-tool-bridge/${route}`, method === 'GET' ? undefined : '{}')).status,
      ).toBe(401);
    }
    expect((await answered(body)).state).toBe('outcome-unknown');
    expect(written('hold worker')).toBe(1);
    await service.call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  });
});
