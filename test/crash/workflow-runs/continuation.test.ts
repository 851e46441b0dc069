import { Client, Connection } from '@temporalio/client';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { RunEventEntry } from '../../../services/workflow-runs/runs/execution/events';
import { runWorkflowId } from '../../../services/workflow-runs/runs/execution/messages';
import { aProviderWithCatalog } from '../../services/workflow-runs/models-under-test';
import { callerSettings, type Reply, tokenOf } from '../../services/workflow-runs/service-under-test';
import { openStoredRuns, type StoredRuns } from '../../services/workflow-runs/stored-runs';
import { aGate } from '../../support/models/provider';
import type { KillPoints } from '../../support/processes/kill-points';
import { workflowRunKillPoints } from '../../support/processes/workflow-run-kill-points';
import { type Service, soonAgain, startService } from '../../support/stack/service';

const graph = `digraph Killed { start -> a -> p; a [prompt="one"]; p [shape=component]; j [shape=tripleoctagon]
  p -> ok -> j; p -> w -> j; j -> b -> exit; ok [shape=hexagon]; w [type=wait, duration="1s"]; b [prompt="\${ok_answer}: \${a_output}"] }`;

let directory: TempDir;
let points: KillPoints;
let models: Awaited<ReturnType<typeof aProviderWithCatalog>>;
let service: Service;
let stored: StoredRuns;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  directory = await makeTempDir('kill-points');
  points = await workflowRunKillPoints(directory.path);
  models = await aProviderWithCatalog();
  const settings = { WORKFLOW_RUNS_PORT: '0', WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '100', ...callerSettings };
  const environment = { ...settings, ...models.settings, ...points.environment };
  service = await startService(environment, { services: ['workflow-runs'], restart: soonAgain });
  stored = await openStoredRuns(service);
  connection = await Connection.connect({ address: service.temporalAddress });
  client = new Client({ connection });
});
beforeEach(() => models.provider.answers(() => ['well']));
afterAll(async () => {
  await connection.close();
  await stored.database.close();
  await service.close();
  await models.close();
  await directory.remove();
});

async function call(method: string, path: string, body?: unknown): Promise<Pick<Reply, 'status' | 'body'>> {
  const response = await fetch(`${service.serviceUrls['workflow-runs']}${path}`, {
    method,
    headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}
/** The status of an answer; 0 when the service died before it. */
const post = async (path: string, body: unknown): Promise<number> =>
  (await call('POST', path, body).catch(() => ({ status: 0 }))).status;

const start = (dot_source: string): Promise<string> =>
  eventually(async () => {
    const { status, body } = await call('POST', '/runs', { dot_source });
    expect(status).toBe(201);
    return body.id as string;
  });
const untilAsked = (id: string) =>
  eventually(async () => expect((await call('GET', `/runs/${id}/questions`)).body.data).toHaveLength(1));
const untilCompleted = (id: string) =>
  eventually(async () => expect((await call('GET', `/runs/${id}`)).body.status).toBe('completed'));

async function executionsOf(id: string): Promise<string[]> {
  const statuses = [];
  for await (const { status } of client.workflow.list({ query: `WorkflowId = "${runWorkflowId(id)}"` })) {
    statuses.push(status.name);
  }
  return statuses;
}
async function eventsOf(id: string) {
  const events = await stored.database.log<RunEventEntry>({ name: 'workflow-run-events' });
  return (await events.read(id, 0, 100_000)).flatMap(({ event }) => Object.entries(event));
}
/** Guidance by what its callers were answered. */
interface Sent {
  acknowledged: string[];
  unanswered: string[];
}

/** Sends guidance, some at a time, until the run was killed at the armed step and has continued. */
async function steerUntilContinued(id: string): Promise<Sent> {
  const sent: Sent = { acknowledged: [], unanswered: [] };
  for (let number = 1; ; number += 3) {
    const texts = [0, 1, 2].map((each) => `guidance ${number + each}.`);
    await Promise.all(
      texts.map(async (guidance) => {
        const status = await post(`/runs/${id}/steer`, { guidance });
        expect([0, 202, 429, 503]).toContain(status);
        sent[status === 202 ? 'acknowledged' : 'unanswered'].push(guidance);
      }),
    );
    if (points.isReached() && (await executionsOf(id)).length > 1) {
      return sent;
    }
    await eventually(async () => expect((await call('GET', '/health')).status).toBe(200));
  }
}

describe('a run that continues as new while its worker is killed', () => {
  test.each([
    ['before its state is stored', /^before prepareContinuation/],
    ['when its state is stored, before the command', /^after prepareContinuation/],
    ['when the next execution has read it', /^after loadContinuation/],
    ['while guidance is verified', /^before verifyMessage .*"steer"/],
    ['before guidance is announced', /^before append {"Steered/],
    ['when guidance is recorded', /^after saveRun .*"Steered"/],
  ])('ends once, with its stages and guidance: %s', async (_when, step) => {
    const id = await start(graph);
    await untilAsked(id);
    await points.arm(step);
    const { acknowledged, unanswered } = await steerUntilContinued(id);
    await eventually(async () =>
      expect([204, 409]).toContain(await post(`/runs/${id}/questions/ok/answer`, { value: 'ok' })),
    );
    await untilCompleted(id);

    const { data } = (await call('GET', `/runs/${id}/stages`)).body;
    const stages = data.map((stage: { id: string; status: string }) => `${stage.id} ${stage.status}`);
    const expected = ['a', 'b', 'exit', 'j', 'ok', 'p', 'start', 'w'];
    expect([...stages].sort()).toEqual(expected.map((stage) => `${stage} completed`));
    const events = await eventsOf(id);
    const named = (name: string) => events.filter(([each]) => each === name).map(([, facts]) => facts);
    const started = (named('StageStarted') as { stage_id: string }[]).map(({ stage_id }) => stage_id);
    expect([...started].sort()).toEqual(expected);
    expect(['RunStarted', 'RunCompleted', 'InterviewStarted'].map((name) => named(name).length)).toEqual([1, 1, 1]);

    const [{ content }] = (await call('GET', `/runs/${id}/stages/b/turns`)).body.data;
    const prompted = [...String(content).matchAll(/guidance \d+\./g)].map(([text]) => text);
    const recorded = (await stored.runs.get(id))?.guidance.map(({ text }) => text) ?? [];
    const announced = (named('Steered') as { text: string }[]).map(({ text }) => text);
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const given of [prompted, recorded, announced]) {
      expect([...new Set(given)]).toEqual(given);
      expect(given).toEqual(expect.arrayContaining(acknowledged));
      expect([...acknowledged, ...unanswered]).toEqual(expect.arrayContaining(given));
    }
    await eventually(async () =>
      expect((await executionsOf(id)).filter((name) => name === 'COMPLETED')).toHaveLength(1),
    );
  });

  test.each([
    ['when its last events are there', /^continued after append {"RunCompleted"/],
    ['when its end is written', /^continued after saveRun .*"RunCompleted"/],
    ['before its continuation is deleted', /^before deleteContinuation/],
  ])('ends in the first task of the next execution: %s', async (_when, step) => {
    const gate = aGate();
    let calls = 0;
    models.provider.answers(async function* () {
      calls += 1;
      await gate.opened;
      yield 'well';
    });
    const id = await start('digraph { start -> ask -> exit; ask [prompt="Hi"] }');
    await eventually(() => expect(calls).toBe(1));
    for (let time = 0; time < 12; time += 1) {
      expect(await post(`/runs/${id}/pause`, {})).toBe(200);
      expect(await post(`/runs/${id}/unpause`, {})).toBe(200);
    }
    await points.arm(step);
    gate.open();
    await eventually(() => expect(points.isReached()).toBe(true));
    await untilCompleted(id);
    await eventually(async () => expect((await executionsOf(id)).sort()).toEqual(['COMPLETED', 'CONTINUED_AS_NEW']));
    const names = (await eventsOf(id)).map(([name]) => name);
    expect(names.filter((name) => name === 'StageCompleted')).toHaveLength(3);
    expect(names.filter((name) => name === 'RunCompleted')).toHaveLength(1);
    const continuations = await stored.database.collection({ name: 'workflow-run-continuations' });
    expect(await continuations.count({ _id: id })).toBe(0);
  });
});
