import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { runboard } from '../../cli/terminal';
import { type Caller, scriptAgent } from '../../support/caller';
import { type ForwardingProxy, startForwardingProxy } from '../../support/forwarding-proxy';
import { aRepository } from '../../support/git/repository';
import { adminKey, startSecuredStack } from '../../support/stack/secured-stack';
import type { Stack } from '../../support/stack/stack';

let stack: Stack;
let call: Caller;
let gates = 0;
beforeAll(async () => {
  ({ stack, admin: call } = await startSecuredStack());
  await call.addRepository('sample', await aRepository(stack.dir));
});
afterAll(() => stack.close());

let proxy: ForwardingProxy;
afterEach(() => proxy.close());

const run = (...args: string[]) =>
  runboard(args, {
    environment: { XDG_CONFIG_HOME: stack.dir, RUNBOARD_URL: proxy.url, RUNBOARD_KEY: adminKey },
  });

/** A run that reports steps until its gate is opened. */
async function aPatientRun() {
  gates += 1;
  const gate = join(stack.dir, `gate-${gates}`);
  const agent = { ...scriptAgent('patient-bee', gate), type: `patient-${gates}` };
  await call.configureAgents([agent]);
  const { id } = await call.createTask({ title: 'Work', git: { repo: 'sample' } });
  const { attemptId } = await call.start(id, { agent: agent.type });
  return { id, attemptId, open: () => writeFile(gate, '') };
}

const sequencesOf = (output: string): number[] =>
  output
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { sequence: number }).sequence);

const reads = () => proxy.requests.filter((request) => /^GET .*\/(?:events|runs\/\w+)(?:\?|$)/.test(request));

describe('watching with the command runboard', () => {
  it('reads a run by the feed and polls nothing, and has each event once beyond lost connections', async () => {
    proxy = await startForwardingProxy(stack.url);
    const { id, attemptId, open } = await aPatientRun();
    const watching = run('--json', 'run', 'watch', id, attemptId);
    for (const lost of [1, 2]) {
      await eventually(() => expect(proxy.upgrades).toBe(lost));
      const before = (await call.events(id, attemptId)).length;
      await eventually(async () => expect((await call.events(id, attemptId)).length).toBeGreaterThan(before));
      proxy.cut();
    }
    await eventually(() => expect(proxy.upgrades).toBe(3));
    await open();
    const { code, output, errors } = await watching;
    expect([code, errors]).toEqual([0, '']);
    const events = await call.events(id, attemptId);
    expect(sequencesOf(output)).toEqual(events.map(({ sequence }: { sequence: number }) => sequence));
    expect(reads()).toEqual([]);
  });

  it('reports a lost connection, and polls where no WebSocket is opened, which it reports as well', async () => {
    proxy = await startForwardingProxy(stack.url, false);
    const { id, attemptId, open } = await aPatientRun();
    const watching = run('run', 'watch', id, attemptId);
    await eventually(() => expect(reads().length).toBeGreaterThan(1));
    await open();
    const { code, output, errors } = await watching;
    expect(code).toBe(0);
    expect(output).toMatch(/run\.completed.*\n$/);
    expect(errors).toContain('The connection to the board is lost. It is tried again …\n');
    expect(errors).toContain('The board opens no WebSocket here');
    expect(proxy.upgrades).toBe(3);
  });

  it('ends with 3 for an attempt that does not exist', async () => {
    proxy = await startForwardingProxy(stack.url);
    const { id, open, attemptId } = await aPatientRun();
    expect(await run('run', 'watch', id, 'attempt_absent0001')).toMatchObject({ code: 3, output: '' });
    await open();
    await call.ended(id);
    expect(await run('run', 'watch', id, attemptId)).toMatchObject({ code: 0 });
  });

  it('reads a run of a workflow when it has changed, and not again and again', async () => {
    proxy = await startForwardingProxy(stack.url);
    await call.ok('POST', '/api/workflows', {
      id: 'gated',
      name: 'Gated',
      agents: [{ id: 'coder', agent: 'any' }],
      steps: [
        { id: 'first', type: 'gate', input: 'First?' },
        { id: 'second', type: 'gate', input: 'Second?' },
      ],
    });
    const { id } = await call.ok('POST', '/api/workflows/gated/runs', {});
    const path = `/api/workflows/runs/${id}`;
    const waitsFor = (step: string) =>
      eventually(async () => expect((await call.ok('GET', path)).currentStep).toBe(step), { withinMs: 20_000 });
    const watching = run('workflow', 'watch', id);
    await waitsFor('first');
    proxy.cut();
    await call.ok('POST', `${path}/steps/first/approve`, {});
    await waitsFor('second');
    await eventually(() => expect(proxy.upgrades).toBe(2));
    await call.ok('POST', `${path}/steps/second/approve`, {});
    const { code, output } = await watching;
    expect(code).toBe(0);
    expect(output).toContain('first  completed');
    expect(output).toContain('100 %  second  completed');
    const { revision } = await call.ok('GET', path);
    expect(reads().length).toBeLessThanOrEqual(2 * (revision as number) + 2);
  });
});
