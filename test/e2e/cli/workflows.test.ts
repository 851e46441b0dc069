import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { runboard } from '../../cli/terminal';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let environment: Record<string, string>;
beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([scriptAgent('as-told')]);
  environment = { XDG_CONFIG_HOME: stack.dir, RUNBOARD_URL: stack.url, RUNBOARD_KEY: stack.env.BOARD_ADMIN_KEY ?? '' };
});
afterAll(() => stack.close());

const run = (...args: string[]) => runboard(args, { environment });
const workflow = (...args: string[]) => run('workflow', ...args);
const json = async (...args: string[]) => {
  const { code, output, errors } = await run('--json', 'workflow', ...args);
  expect([code, errors]).toEqual([0, '']);
  return JSON.parse(output);
};

async function aWorkflow(id: string, steps: object[], variables: object = {}): Promise<string> {
  const file = join(stack.dir, `${id}.json`);
  const agents = [{ id: 'coder', agent: 'as-told' }];
  await writeFile(file, JSON.stringify({ id, name: `Workflow ${id}`, agents, variables, steps }));
  const created = await workflow('new', file);
  expect(created).toEqual({ code: 0, output: `${id}\n`, errors: '' });
  return id;
}
const gate = { id: 'approval', type: 'gate', input: 'Build {{what}}?\u009b2J' };
const waits = (runId: string) =>
  eventually(async () => expect((await json('status', runId)).status).toBe('blocked'), { withinMs: 20_000 });

describe('the command runboard with workflows', () => {
  it('creates, lists and shows workflows', async () => {
    await aWorkflow('shown', [gate], { what: 'a wall' });
    expect((await workflow('list')).output).toMatch(/^ID .*\n(?:.*\n)*shown +1 +1 +Workflow shown\n/);
    expect((await workflow('show', 'shown')).output).toMatch(/approval +gate +- +Build \{\{what\}\}\?/);
    expect(await json('show', 'shown')).toMatchObject({ id: 'shown', variables: { what: 'a wall' } });
    expect(await workflow('show', 'absent')).toMatchObject({ code: 3 });
    expect(await workflow('new', join(stack.dir, 'shown.json'))).toMatchObject({ code: 5 });
    expect(await workflow('new', join(stack.dir, 'absent.yaml'))).toMatchObject({ code: 2 });
  });

  it('starts a run once for a key, shows what it asks, approves it and watches it to its end', async () => {
    const id = await aWorkflow('built', [gate], { what: 'a wall' });
    const start = ['start', id, '--var', 'what=a tower', '--idempotency-key', 'tower-1'];
    const { id: runId } = await json(...start);
    expect((await json(...start)).id).toBe(runId);
    await waits(runId);
    const shown = await workflow('status', runId);
    expect(shown.output).toContain('Build a tower?');
    expect(shown.output).toContain(`runboard workflow approve ${runId} approval`);
    expect(shown.output).not.toContain('\u009b');
    expect((await workflow('runs', '--workflow', id)).output).toContain(`${runId}  blocked  built`);
    expect((await workflow('graph', runId)).output).toMatch(/^<\?xml|^<svg/);
    const watching = workflow('watch', runId);
    expect(await workflow('approve', runId, '-m', 'Go.')).toMatchObject({ code: 0, errors: '' });
    const watched = await watching;
    expect(watched.code).toBe(0);
    expect(watched.output).toContain('████████████████████ 100 %  approval  completed');
    expect(watched.output).toMatch(/completed {2}built\n$/);
    expect(await workflow('approve', runId)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('No step of'),
    });
    expect(await workflow('approve', runId, 'approval')).toMatchObject({ code: 5 });
  });

  it('ends with 10 when its step is rejected, and with the step of an agent when that succeeds', async () => {
    const id = await aWorkflow('rejected', [gate], { what: 'a wall' });
    const { id: runId } = await json('start', id);
    await waits(runId);
    expect((await workflow('reject', runId)).output).toBe(`${runId}  approval  rejected\n`);
    const watched = await workflow('watch', runId);
    expect([watched.code, watched.errors]).toEqual([10, expect.stringContaining('workflow resume')]);

    const script = JSON.stringify({ result: { status: 'success', summary: 'Done' } });
    await aWorkflow('agents', [{ id: 'build', type: 'agent', agent: 'coder' }]);
    const created = await run('task', 'new', 'Work', '--repo', 'sample', '-d', script);
    const started = await workflow('start', 'agents', '--task', created.output.split(' ')[0]!, '--watch');
    expect([started.code, started.errors]).toEqual([0, '']);
    expect(started.output).toContain('build  completed');
  });

  it('cancels a run, and refuses what is no variable', async () => {
    const id = await aWorkflow('cancelled', [gate], { what: 'a wall' });
    const { id: runId } = await json('start', id);
    await waits(runId);
    expect(await workflow('cancel', runId)).toMatchObject({ code: 0, errors: '' });
    expect(await workflow('watch', runId)).toMatchObject({ code: 10 });
    expect(await workflow('start', id, '--var', 'What')).toMatchObject({
      code: 2,
      errors: expect.stringContaining('name=value'),
    });
    expect(await workflow('status', '01JJXYZ0ABCDEFGHJKMNPQRSTV')).toMatchObject({ code: 3 });
  });
});
