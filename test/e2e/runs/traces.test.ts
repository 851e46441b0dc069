import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { exampleAgent } from '../../support/runs/example-agent';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

/** A span as tests read it. */
interface Span {
  spanId: string;
  parentSpanId: string | null;
  kind: string;
  status: string;
  durationMs: number | null;
}

const enable = () => stack.call.ok('POST', '/api/traces/enable');
const disable = () => stack.call.ok('POST', '/api/traces/disable');
const traceOf = (attemptId: string, query = '') => stack.call.ok('GET', `/api/traces/${attemptId}${query}`);

async function run(agent: string, fields: object = {}): Promise<{ taskId: string; attemptId: string }> {
  const { id: taskId } = await stack.call.createTask({ title: 'Traced', git: { repo: 'sample' }, ...fields });
  const { attemptId } = await stack.call.start(taskId, { agent });
  await stack.call.ended(taskId);
  return { taskId, attemptId };
}

describe('traces of runs', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('worker-bee'),
      exampleAgent(stack.dir),
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });
  afterAll(() => stack.close());

  it('are recorded only for attempts that run while tracing is enabled', async () => {
    expect(await stack.call.ok('GET', '/api/traces/status')).toEqual({ enabled: false });
    const before = await run('worker-bee');
    expect(await stack.call.get(`/api/traces/${before.attemptId}`)).toMatchObject({
      status: 404,
      body: { code: 'TRACE_NOT_RECORDED', details: { attemptId: before.attemptId, enabled: false } },
    });
    expect(await enable()).toEqual({ enabled: true });
    expect(await stack.call.ok('GET', '/api/traces/status')).toEqual({ enabled: true });
    expect(await stack.call.ok('GET', '/api/settings/features')).toMatchObject({ tracing: { enabled: true } });
    const traced = await run('worker-bee');
    const trace = await traceOf(traced.attemptId);
    expect(trace).toMatchObject({ traceId: traced.attemptId, taskId: traced.taskId, state: 'ended' });

    expect(await disable()).toEqual({ enabled: false });
    const after = await run('worker-bee');
    expect((await stack.call.get(`/api/traces/${after.attemptId}`)).status).toBe(404);
    // What was recorded stays readable.
    expect(await traceOf(traced.attemptId)).toEqual(trace);
    expect(await stack.call.ok('GET', `/api/traces/task/${after.taskId}`)).toEqual({
      ...{ taskId: after.taskId, traces: [], untraced: [after.attemptId] },
    });
    const { entries } = await stack.call.ok('GET', '/api/audit?limit=100&action=settings.update');
    expect(entries.map(({ details }: { details: unknown }) => details)).toEqual([
      { tracing: { enabled: false } },
      { tracing: { enabled: true } },
    ]);
  });

  it('show each step of a run in a worktree, its parts within it', async () => {
    await enable();
    const { attemptId } = await run('worker-bee');
    const { spans, durationMs } = (await traceOf(attemptId)) as { spans: Span[]; durationMs: number };
    const steps = ['run', 'launch', 'worktree', 'prepare', 'dispatch', 'agent', 'completion'];
    expect(spans.filter(({ parentSpanId }) => parentSpanId === null).map(({ spanId }) => spanId)).toEqual(['run']);
    for (const spanId of steps) {
      expect(spans).toContainEqual(expect.objectContaining({ spanId, status: 'ok', durationMs: expect.any(Number) }));
    }
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
    expect(spans.filter(({ parentSpanId }) => parentSpanId !== null && !ids.has(parentSpanId))).toEqual([]);
    expect(spans.find(({ spanId }) => spanId === 'run')!.durationMs).toBe(durationMs);
  });

  it('show the tools of an agent, page by page', async () => {
    await enable();
    const { attemptId } = await run('scripted', {
      description: 'write notes.txt Noted.\nread notes.txt\nrun echo done',
    });
    const whole = await traceOf(attemptId, '?limit=500');
    const tools = whole.spans.filter(({ kind }: Span) => kind === 'tool');
    const events = await stack.call.events((whole as { taskId: string }).taskId, attemptId);
    expect(tools).toHaveLength(events.filter(({ kind }) => kind === 'tool.started').length);
    expect(tools.length).toBeGreaterThan(0);
    expect(whole.events).toEqual({ read: events.length, truncated: false, purgedAt: null });
    const seen: Span[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await traceOf(attemptId, `?limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      expect(page.spans.length).toBeLessThanOrEqual(3);
      seen.push(...page.spans);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(whole.spans);
  });

  it('are readable during the run, and show a failure', async () => {
    await enable();
    const { id: taskId } = await stack.call.createTask({ title: 'Far away' });
    const { attemptId } = await stack.call.start(taskId, { agent: 'elsewhere' });
    const openOnes = ({ spans }: { spans: Span[] }) =>
      spans.filter(({ status }) => status === 'open').map(({ spanId }) => spanId);
    expect(openOnes(await traceOf(attemptId))).toEqual(['run', 'agent']);
    await stack.call.ok('POST', `/api/agents/${taskId}/complete`, { attemptId, success: false, error: 'no' });
    await stack.call.ended(taskId);
    const trace = await traceOf(attemptId);
    expect(openOnes(trace)).toEqual([]);
    expect(trace.spans.find(({ spanId }: Span) => spanId === 'run')).toMatchObject({
      status: 'error',
      attributes: { attemptId, status: 'failed' },
    });
    const listed = await stack.call.ok('GET', `/api/traces/task/${taskId}`);
    expect(listed).toMatchObject({ taskId, traces: [{ attemptId }], untraced: [] });
  });

  it('are not of what is not there', async () => {
    expect((await stack.call.get('/api/traces/attempt_nothing00')).status).toBe(404);
    expect((await stack.call.get('/api/traces/task/task_20260101_nothin')).status).toBe(404);
    expect((await stack.call.get('/api/traces/Attempt')).status).toBe(400);
  });
});
