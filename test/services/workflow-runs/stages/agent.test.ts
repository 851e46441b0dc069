import { eventually } from '../../../../platform/testing/eventually';
import { scriptAgent } from '../../../support/caller';
import { changeFeatures } from '../../../support/change-features';
import { aRepository } from '../../../support/git/repository';
import { agentKey, startSecuredStack } from '../../../support/stack/secured-stack';
import { type Stack, startStack } from '../../../support/stack/stack';
import { aPresetsFile } from '../commands-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

let board: Stack;
let service: WorkflowRunsUnderTest;
let runs: RunClient;
beforeAll(async () => {
  board = await startStack({ BOARD_RETRY_BACKOFF_MS: '100', BOARD_RUN_RETRIES: '1' });
  await board.call.addRepository('sample', await aRepository(board.dir));
  await board.call.configureAgents([
    { ...scriptAgent('as-told'), type: 'told' },
    scriptAgent('worker-bee', '2'),
    { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
  ]);
  service = await startServiceUnderTest({ WORKFLOW_RUNS_BOARD_URL: board.url });
  runs = aRunClient(service);
});
afterAll(async () => {
  await service.close();
  await board.close();
});

/** A prompt that the agent obeys, as the value of an attribute. */
const obeyed = (script: object): string => `"${JSON.stringify(script).replaceAll('"', '\\"')}"`;
const succeeding = obeyed({
  files: { 'a.txt': 'x' },
  commit: 'Work',
  result: { status: 'success', summary: 'done well' },
});
const staying = obeyed({ say: [{ type: 'progress', message: 'on it' }], stays: true });
const agentStage = (attributes: string, more = ''): string =>
  `digraph { ${more} start -> a -> exit; a [type=agent, repository=sample, agent=told, ${attributes}] }`;
const attemptOf = async (id: string) => {
  const { agent } = (await runs.stages(id)).find((stage) => stage.id === 'a')!;
  return agent!;
};
const read = ({ task_id, attempt_id }: { task_id: string; attempt_id: string }) =>
  board.call.ok('GET', `/api/agents/${task_id}/attempts/${attempt_id}`);
const untilLaunched = (id: string) =>
  eventually(async () => {
    const agent = await attemptOf(id);
    expect(await read(agent)).toMatchObject({ state: 'running' });
    return agent;
  });

describe('an agent of a run', () => {
  it('is launched by the board on a task of its prompt, and its result is a value', async () => {
    const id = await runs.start(agentStage(`prompt=${succeeding}, label="Do it", phase=implement, commits=required`));
    await runs.untilStatus(id, 'completed');
    const agent = await attemptOf(id);
    const attempt = await read(agent);
    expect(attempt).toMatchObject({ agent: 'told', phase: 'implement', commitPolicy: 'required', state: 'ended' });
    expect(await board.call.ok('GET', `/api/tasks/${agent.task_id}`)).toMatchObject({ title: 'Do it' });
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({
      ...{ a_output: 'done well', last_output: 'done well', a_status: 'success' },
      ...{ a_task: agent.task_id, a_attempt: agent.attempt_id, a_commit: attempt.completion.harness.headSha },
    });
    const names = await runs.eventNames(id);
    expect(names).toEqual(expect.arrayContaining(['AgentLaunched', 'AgentEnded']));
    expect((await runs.get(`/runs/${id}/stages/a/turns`)).data).toMatchObject([
      { kind: 'user', content: expect.stringContaining('done well') },
      { kind: 'assistant', content: 'done well' },
    ]);
    expect(await board.call.ok('GET', `/api/admission/${agent.attempt_id}`)).toMatchObject({
      ...{ request: { source: 'workflow' }, workflow: { runId: id, stepId: 'a' } },
    });
  });

  it('of a later stage joins the tree of the first, on a task that is there', async () => {
    const { id: task } = await board.call.createTask({ title: 'Given', git: { repo: 'sample' } });
    const id = await runs.start(`digraph { budget_tokens=100; start -> a -> b -> exit
      a [type=agent, repository=sample, agent="worker-bee", prompt="Work"]; b [type=agent, agent="worker-bee", task="${task}"] }`);
    await runs.untilStatus(id, 'completed');
    const [first, second] = (await runs.stages(id)).flatMap(({ agent }) => (agent ? [agent] : []));
    expect(second).toMatchObject({ task_id: task });
    const tree = await board.call.ok('GET', `/api/admission/tree/${first!.attempt_id}`);
    expect(JSON.stringify(tree)).toContain(second!.attempt_id);
    expect((await runs.stages(id)).find((stage) => stage.id === 'a')).toMatchObject({
      usage: { input_tokens: 10, output_tokens: 20, cost: 0.25 },
    });
    expect(await runs.get(`/runs/${id}/usage`)).toMatchObject({
      by_model: [{ model: { id: 'agent:worker-bee' }, stages: 2, usage: { cost: 0.5 } }],
    });
    const over = await runs.start(`digraph { budget_tokens=30; start -> a -> b -> exit
      a [type=agent, repository=sample, agent="worker-bee", prompt="Work"]; b [type=agent, agent="worker-bee", prompt="More"] }`);
    expect(await runs.untilStatus(over, 'failed')).toMatchObject({
      error: { message: 'It has used 30 of 30 tokens, so that b is not asked.' },
    });
  });

  it('that fails is retried, then replaced by another one, and edges decide by its status', async () => {
    const blocked = obeyed({ result: { status: 'blocked', summary: 'no key' } });
    const failed = await runs.start(agentStage(`prompt=${blocked}, max_retries=1, retry_delay="10ms"`));
    expect(await runs.untilStatus(failed, 'failed')).toMatchObject({
      error: { message: 'Its agent ended as blocked: no key' },
    });
    const { task_id } = await attemptOf(failed);
    expect((await board.call.ok('GET', `/api/agents/${task_id}/attempts`)).attempts).toHaveLength(2);
    const mended = await runs.start(
      agentStage(`prompt=${blocked}`, 'a -> exit [condition="outcome=fail && a_status=blocked"];'),
    );
    await runs.untilStatus(mended, 'completed');
    const replaced = await runs.start(agentStage(`prompt=${blocked}, fallback_agents="worker-bee"`));
    await runs.untilStatus(replaced, 'completed');
    expect(await runs.events(replaced)).toContainEqual({
      AgentFallback: { stage_id: 'a', agent: 'worker-bee', error: 'no key' },
    });
  });

  it('is followed where the board tries it again', async () => {
    const id = await runs.start(agentStage('agent=limited, prompt="Work"').replace('agent=told, ', ''));
    await runs.untilStatus(id, 'failed');
    const { task_id, attempt_id } = await attemptOf(id);
    const { attempts } = await board.call.ok('GET', `/api/agents/${task_id}/attempts`);
    expect(attempts).toHaveLength(2);
    expect(attempts[0]).toMatchObject({ id: attempt_id, retryNumber: 1 });
  });

  it('is stopped when its run is cancelled, and when its time is over', async () => {
    const id = await runs.start(agentStage(`prompt=${staying}`));
    const agent = await untilLaunched(id);
    await runs.post(`/runs/${id}/cancel`, {}, 200);
    expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'cancelled' });
    expect(await read(agent)).toMatchObject({ state: 'ended', completion: { status: 'interrupted' } });
    const late = await runs.start(agentStage(`prompt=${staying}, timeout="2s"`));
    expect(await runs.untilStatus(late, 'failed')).toMatchObject({
      error: { message: 'Its agent ended as timeout: It was stopped when its time was over.' },
    });
    expect(await read(await attemptOf(late))).toMatchObject({ state: 'ended' });
  });

  it('waits while the board is overloaded, and while it is queued there', async () => {
    const limits = { global: { runs: 1 } };
    for (const enabled of [false, true]) {
      await changeFeatures(board.call, { admission: { limits, queue: { enabled } } });
      const busy = await runs.start(agentStage(`prompt=${staying}`));
      await untilLaunched(busy);
      const id = await runs.start(agentStage(`prompt=${succeeding}`));
      await eventually(async () => {
        const names = await runs.eventNames(id);
        expect(names).toContain(enabled ? 'AgentLaunched' : 'AgentWaiting');
      });
      expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'running' });
      await runs.post(`/runs/${busy}/cancel`, {}, 200);
      await runs.untilStatus(id, 'completed');
    }
    await changeFeatures(board.call, { admission: { limits: { global: { runs: null } } } });
  });

  it.each([
    [
      'on a task that is not there',
      'digraph { start -> a -> exit; a [type=agent, task="task_20260101_nosuch"] }',
      /NOT_FOUND/,
    ],
    ['of a name that is not there', agentStage('prompt=x').replace('agent=told', 'agent=nobody'), /nobody/],
  ])('%s fails its stage with the reason of the board', async (_case, dot, reason) => {
    expect(await runs.untilStatus(await runs.start(dot), 'failed')).toMatchObject({
      error: { message: expect.stringMatching(reason) },
    });
  });

  it('of parallel branches are in one tree', async () => {
    const id = await runs.start(`digraph { start -> p; p [shape=component]; j [shape=tripleoctagon]
      p -> a -> j; p -> b -> j; j -> exit
      a [type=agent, repository=sample, agent=told, prompt=${succeeding}]; b [type=agent, repository=sample, agent=told, prompt=${succeeding}] }`);
    await runs.untilStatus(id, 'completed');
    const [first, second] = (await runs.stages(id)).flatMap(({ agent }) => (agent ? [agent.attempt_id] : []));
    const trees = await Promise.all(
      [first, second].map(
        async (attempt) => (await board.call.ok('GET', `/api/admission/${attempt}`)).tree.rootObjectiveId,
      ),
    );
    expect([first, second]).toContain(trees[0]);
    expect(trees[0]).toBe(trees[1]);
  });
});

describe('a board with authentication', () => {
  it('launches agents for the token of the service, on each item of a list, and for no other', async () => {
    const { stack: secured, admin } = await startSecuredStack();
    const settings = { WORKFLOW_RUNS_BOARD_URL: secured.url };
    const presets = await aPresetsFile();
    const scopes = ['agent:read', 'agent:write', 'task:read', 'task:write'];
    const { token } = await admin.ok('POST', '/api/identity/workspaces/local/api-tokens', {
      ...{ name: 'workflow-runs', role: 'admin', scopes },
    });
    const served = await startServiceUnderTest({ ...settings, ...presets.settings, WORKFLOW_RUNS_BOARD_TOKEN: token });
    const refused = await startServiceUnderTest({ ...settings, WORKFLOW_RUNS_BOARD_TOKEN: agentKey });
    try {
      await admin.addRepository('sample', await aRepository(secured.dir));
      await admin.configureAgents([scriptAgent('worker-bee', '2')]);
      const client = aRunClient(served);
      const id = await client.start(`digraph { start -> list -> m -> exit
        list [type=command, command="printf %s '[\\"a\\",\\"b\\"]'", output_schema="{\\"type\\":\\"array\\"}"]
        m [type=map, items=list_output, each=agent, repository=sample, agent="worker-bee", prompt="Work on \${item}"] }`);
      await client.untilStatus(id, 'completed');
      expect(await client.get(`/runs/${id}/context`)).toMatchObject({ m_output: ['did 2 steps', 'did 2 steps'] });
      const items = (await client.stages(id)).filter(({ parent }) => parent === 'm');
      const tasks = await Promise.all(items.map(({ agent }) => admin.ok('GET', `/api/tasks/${agent?.task_id}`)));
      expect(tasks.map(({ description }) => description)).toEqual(['Work on a', 'Work on b']);
      const other = aRunClient(refused);
      const failed = await other.start(agentStage('prompt=x'));
      expect(await other.untilStatus(failed, 'failed')).toMatchObject({
        error: { message: expect.stringContaining('FORBIDDEN: This requires the permission agent:write.') },
      });
    } finally {
      await Promise.all([served.close(), refused.close(), presets.close()]);
      await secured.close();
    }
  });
});

describe('a workflow-run service without a board', () => {
  it('refuses agents', async () => {
    const other = await startServiceUnderTest();
    try {
      expect(await other.call('POST', '/runs', { dot_source: agentStage('prompt=x') })).toMatchObject({
        status: 400,
        body: { errors: [{ detail: 'Node "a": agents are not launched here: WORKFLOW_RUNS_BOARD_URL is not set.' }] },
      });
    } finally {
      await other.close();
    }
  });
});
