import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { aPresetsFile } from '../commands-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

let service: WorkflowRunsUnderTest;
let runs: RunClient;
let file: Awaited<ReturnType<typeof aPresetsFile>>;
beforeAll(async () => {
  file = await aPresetsFile();
  service = await startServiceUnderTest({
    ...file.settings,
    WORKFLOW_RUNS_DRY_RUN: 'true',
    WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '100',
  });
  runs = aRunClient(service);
});
afterAll(async () => {
  await service.close();
  await file.close();
});

const sh = (script: string): string[] => ['sh', '-c', script];
const note = (extra = ''): string[] => sh(`echo "$RUNBOARD_EVENT $RUNBOARD_NODE_ID$RUNBOARD_STAGE_ID${extra}" >> log`);
const create = (dot_source: string, hooks: object[], more: object = {}) =>
  service.call('POST', '/runs', { dot_source, hooks, ...more });
const started = async (dot: string, hooks: object[], more: object = {}): Promise<string> => {
  const { status, body } = await create(dot, hooks, more);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
};
const logOf = async (id: string): Promise<string[]> =>
  (await readFile(join(service.dataDir, 'workflow-runs', 'workspaces', id, 'log'), 'utf8')).trim().split('\n');
const every = ['run_start', 'run_complete', 'run_failed', 'stage_start', 'stage_complete', 'stage_failed'];
const attribute = (script: string): string => `"${JSON.stringify(sh(script)).replaceAll('"', '\\"')}"`;

describe('hooks of a run', () => {
  it('run once at each event, in their order, in the workspace, as stages with an output of their own', async () => {
    const hooks = every.map((event) => ({ event, command: note() }));
    const id = await started(
      `digraph { start -> a -> b -> d -> exit; d [shape=diamond]; b [type=command, command=${attribute('exit 3')}]
        a [type=command, command="true"]; b -> exit [condition="outcome=fail"] }`,
      hooks,
    );
    await runs.untilStatus(id, 'completed');
    expect(await logOf(id)).toEqual([
      ...['run_start ', 'stage_start aa', 'stage_complete aa', 'stage_start bb', 'stage_failed bb', 'run_complete'],
    ]);
    expect(
      (await runs.stages(id)).filter(({ hook }) => hook).map(({ id: of, parent, hook }) => [of, parent, hook]),
    ).toEqual([
      ['hooks:run_start:0', 'hooks', 'run_start'],
      ['a:stage_start:3', 'a', 'stage_start'],
      ['a:stage_complete:4', 'a', 'stage_complete'],
      ['b:stage_start:3', 'b', 'stage_start'],
      ['b:stage_failed:5', 'b', 'stage_failed'],
      ['hooks:run_complete:1', 'hooks', 'run_complete'],
    ]);
    expect((await runs.get(`/runs/${id}/stages/a:stage_start:3/turns`)).data).toMatchObject([{ kind: 'tool' }]);
    expect(await runs.get(`/runs/${id}/configuration`)).toMatchObject({ hooks });
    // A hook sets no values.
    expect(await runs.get(`/runs/${id}/context`)).not.toHaveProperty('hooks_output');
  });

  it('of a failed run know why it failed, and the run is as failed as without them', async () => {
    const id = await started(`digraph { start -> a -> exit; a [type=command, command=${attribute('exit 3')}] }`, [
      { event: 'run_failed', command: sh('echo "$RUNBOARD_FAILURE" > log; exit 1') },
      { event: 'run_failed', command: ['printf', '%s', '${last_exit_code}'], name: 'print' },
    ]);
    expect(await runs.untilStatus(id, 'failed')).toMatchObject({ error: { message: 'It ended with exit code 3.' } });
    expect(await logOf(id)).toEqual(['It ended with exit code 3.']);
    expect((await runs.stages(id)).slice(-2)).toMatchObject([
      { status: 'failed', failure_reason: 'It ended with exit code 1.' },
      { status: 'completed', notes: '3', name: 'print' },
    ]);
  });

  it('that fail at a start keep the work from being done, and those behind them from being run', async () => {
    const graph = `digraph { start -> a -> exit; a -> mend [condition="outcome=fail"]; mend -> exit
      a [type=command, command=${attribute('echo work >> log')}]; mend [type=command, command="true"] }`;
    const id = await started(graph, [
      { event: 'stage_start', nodes: ['a'], name: 'guard', command: sh('echo no >&2; exit 2') },
      { event: 'stage_start', command: note() },
      { event: 'stage_failed', command: sh('echo "$RUNBOARD_FAILURE" >> log') },
    ]);
    await runs.untilStatus(id, 'completed');
    const reason = 'The hook guard failed: It ended with exit code 2. no';
    expect(await logOf(id)).toEqual([reason, 'stage_start mendmend']);
    expect((await runs.stages(id)).find(({ id: of }) => of === 'a')).toMatchObject({
      ...{ status: 'failed', failure_reason: reason },
    });
    const refused = await started(graph, [{ event: 'run_start', command: ['false'] }]);
    expect(await runs.untilStatus(refused, 'failed')).toMatchObject({
      error: { message: 'The hook false failed: It ended with exit code 1.' },
    });
    expect(await runs.stages(refused)).toMatchObject([{ id: 'hooks:run_start:0', status: 'failed' }]);
  });

  it('block by their event, or as they set it themselves', async () => {
    const graph = 'digraph { start -> a -> exit; a [type=command, command="true"] }';
    const free = await started(graph, [
      { event: 'run_start', blocking: false, command: ['no-such-program'] },
      { event: 'stage_complete', command: ['false'] },
      { event: 'run_complete', command: ['false'] },
    ]);
    await runs.untilStatus(free, 'completed');
    expect((await runs.stages(free))[0]).toMatchObject({
      ...{ status: 'failed', failure_reason: expect.stringContaining('no-such-program was not found') },
    });
    const bound = await started(graph, [{ event: 'stage_complete', blocking: true, command: ['false'] }]);
    expect(await runs.untilStatus(bound, 'failed')).toMatchObject({
      error: { message: 'The hook false failed: It ended with exit code 1.' },
    });
    const last = await started(graph, [{ event: 'run_complete', blocking: true, command: ['false'] }]);
    await runs.untilStatus(last, 'failed');
    const slow = await started(graph, [{ event: 'run_start', timeout_ms: 1_000, command: ['sleep', '100'] }]);
    expect(await runs.untilStatus(slow, 'failed')).toMatchObject({
      error: { message: 'The hook sleep 100 failed: It was ended when its time was over.' },
    });
  });

  it('end with a run that is cancelled, and none is run then', async () => {
    const graph = 'digraph { start -> a -> exit; a [type=command, command="false"] }';
    for (const event of ['run_start', 'run_failed']) {
      const id = await started(graph, [
        { event, command: sh('touch begun; sleep 100') },
        { event: 'run_failed', command: sh('touch later') },
      ]);
      await expect(waitFor(id, 'begun')).resolves.toBe('');
      await runs.post(`/runs/${id}/cancel`, {}, 200);
      await runs.untilStatus(id, 'cancelled');
      expect((await runs.stages(id)).find(({ hook }) => hook === event)).toMatchObject({ status: 'cancelled' });
      await expect(fileOf(id, 'later')).rejects.toThrow('ENOENT');
    }
  });

  it('are each run once in a run that continues as new', async () => {
    const id = await started(
      `digraph { start -> c; c -> c [condition="c_output < 20", weight=1]; c -> exit
        c [type=command, command=${attribute('echo x >> lines; wc -l < lines')}] }`,
      [
        { event: 'run_start', command: note() },
        { event: 'stage_start', command: note() },
        { event: 'stage_complete', command: note() },
      ],
      { setup: { commands: [['true']] } },
    );
    await runs.untilStatus(id, 'completed');
    const visits = Array.from({ length: 20 }, (_each, at) => `c${at === 0 ? 'c' : `c.${at + 1}`}`);
    expect(await logOf(id)).toEqual([
      'run_start ',
      ...visits.flatMap((visit) => [`stage_start ${visit}`, `stage_complete ${visit}`]),
    ]);
  });

  it.each([
    ['an unknown event', [{ event: 'edge_selected', command: ['ls'] }], 422, /^hooks\.0\.event: /],
    ['an unknown field', [{ event: 'run_start', command: ['ls'], url: 'http://a' }], 422, /^hooks\.0\.url/],
    ['nodes of a run', [{ event: 'run_start', command: ['ls'], nodes: ['a'] }], 422, /^hooks\.0\.nodes: /],
    ['a failure to block', [{ event: 'run_failed', command: ['ls'], blocking: true }], 422, /^hooks\.0\.blocking: /],
    [
      'a node that is not there',
      [{ event: 'stage_start', command: ['ls'], nodes: ['a', 'x'] }],
      400,
      /^hooks\.0\.nodes\.1: "x" is not/,
    ],
    ['a node without work', [{ event: 'stage_start', command: ['ls'], nodes: ['start'] }], 400, /"start" does no work/],
    ['a program that is a value', [{ event: 'run_start', command: ['${a}'] }], 400, /^hooks\.0\.command\.0: /],
  ])('are refused for %s', async (_case, hooks, status, detail) => {
    const reply = await create('digraph { start -> a -> exit; a [prompt="A"] }', hooks);
    expect(reply).toMatchObject({ status, body: { errors: [{ detail: expect.stringMatching(detail) }] } });
  });
});

const fileOf = (id: string, name: string): Promise<string> =>
  readFile(join(service.dataDir, 'workflow-runs', 'workspaces', id, name), 'utf8');
const waitFor = (id: string, name: string): Promise<string> => eventually(() => fileOf(id, name));
