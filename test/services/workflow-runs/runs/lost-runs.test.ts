import { eventually } from '../../../../platform/testing/eventually';
import { runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';
import { openStoredRuns, type StoredRuns } from '../stored-runs';

/** A run that waits for an answer. */
const asking = 'digraph Ask { start -> ok -> exit; ok [shape=hexagon, label="Go on?"] }';
const short = 'digraph Short { start -> exit }';

let service: WorkflowRunsUnderTest;
let stored: StoredRuns;

beforeAll(async () => {
  service = await startServiceUnderTest({ WORKFLOW_RUNS_CONCURRENCY: '1' });
  stored = await openStoredRuns(service);
});
afterAll(async () => {
  await stored.database.close();
  await service.close();
});

const start = async (dot: string): Promise<string> => {
  const { status, body } = await service.call('POST', '/runs', { dot_source: dot });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id as string;
};
const run = async (id: string) => (await service.call('GET', `/runs/${id}`)).body;
const untilStatus = (id: string, status: string) =>
  eventually(async () => {
    const found = await run(id);
    expect(found.status).toBe(status);
    return found;
  });
const terminate = (id: string) =>
  service.temporal.client.workflow.getHandle(runWorkflowId(id)).terminate('by an operator');

/** A run as an earlier version accepted it: its graph is too large to be run. */
const tooLarge = () =>
  stored.add({
    status: 'queued',
    dot_source: `digraph { start -> exit; node [prompt="${'x'.repeat(99_000)}"]; ${Array.from({ length: 150 }, (_, n) => `exit -> n${n}`).join(';')} }`,
    stages: [],
    revision: 0,
  });

describe('a run whose workflow is terminated', () => {
  test('ends as failed with the reason', async () => {
    const lost = await start(asking);
    await untilStatus(lost, 'running');
    const next = await start(short);
    await terminate(lost);
    await start(short);
    await expect(untilStatus(lost, 'failed')).resolves.toMatchObject({
      error: { message: 'Its workflow was terminated.' },
    });
    await untilStatus(next, 'completed');
    const { data } = (await service.call('GET', `/runs/${lost}/stages`)).body;
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['completed', 'cancelled']);
    expect((await service.call('GET', `/runs/${lost}/questions`)).body.data).toEqual([]);
    expect((await service.call('GET', `/runs/${lost}/retro`)).body).toMatchObject({ smoothness: 'failed' });
  });

  test('can be cancelled, and its events end with it', async () => {
    // Longer than the test: nothing but the cancel notices that the workflow is closed.
    const own = await startServiceUnderTest({}, { reconcileEveryMs: 600_000 });
    try {
      const { id } = (await own.call('POST', '/runs', { dot_source: asking })).body;
      await eventually(async () => expect((await own.call('GET', `/runs/${id}`)).body.status).toBe('running'));
      const events = own.open('GET', `/runs/${id}/events`).then((response) => response.text());
      await own.temporal.client.workflow.getHandle(runWorkflowId(id)).terminate('by an operator');
      const { status, body } = await own.call('POST', `/runs/${id}/cancel`, {});
      expect({ status, body }).toMatchObject({ status: 200, body: { status: 'cancelled' } });
      expect(await events).toContain('RunCancelled');
      expect(await own.call('POST', `/runs/${id}/cancel`, {})).toMatchObject({ status: 409 });
    } finally {
      await own.close();
    }
  });
});

describe('a run that cannot be started', () => {
  test('ends as failed with the reason; the ones behind it are started', async () => {
    const { _id } = await tooLarge();
    const next = await start(short);
    await untilStatus(next, 'completed');
    await expect(untilStatus(_id, 'failed')).resolves.toMatchObject({
      error: { message: expect.stringContaining('may have at most') },
    });
  });

  test('can be cancelled before', async () => {
    const waiting = await start(asking);
    await untilStatus(waiting, 'running');
    const { _id } = await tooLarge();
    expect(await service.call('POST', `/runs/${_id}/cancel`, {})).toMatchObject({
      status: 200,
      body: { status: 'cancelled' },
    });
    await service.call('POST', `/runs/${waiting}/cancel`, {});
  });
});

test('runs that have not ended are bounded, also those that wait', async () => {
  const own = await startServiceUnderTest({ WORKFLOW_RUNS_MAX_OPEN: '2' });
  try {
    const post = () => own.call('POST', '/runs', { dot_source: asking });
    const sent = await Promise.all(Array.from({ length: 10 }, post));
    const first = sent.find(({ status }) => status === 201);
    const refused = sent.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(8);
    expect(refused[0]?.body.errors[0].detail).toContain('2 runs have not ended');
    await eventually(async () =>
      expect(await own.call('POST', `/runs/${first?.body.id}/cancel`, {})).toMatchObject({ status: 200 }),
    );
    expect(await post()).toMatchObject({ status: 201 });
  } finally {
    await own.close();
  }
});
