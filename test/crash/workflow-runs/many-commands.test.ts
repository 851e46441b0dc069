import { eventually } from '../../../platform/testing/eventually';
import { runWorkflowId } from '../../../services/workflow-runs/runs/execution/messages';
import { startWithModels, type WithModels } from '../../services/workflow-runs/models-under-test';
import { aRunClient, type RunClient } from '../../services/workflow-runs/runs/run-client';
import { openStoredRuns } from '../../services/workflow-runs/stored-runs';

let models: WithModels;
let runs: RunClient;
beforeAll(async () => {
  models = await startWithModels({ WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '400', RATE_LIMIT_ENABLED: 'false' });
  runs = aRunClient(models.service);
});
beforeEach(() => models.provider.answers(() => ['well']));
afterAll(() => models.close());

const asking = 'digraph { start -> ok -> write -> exit; ok [shape=hexagon]; write [prompt="Write"] }';
const startAsking = async (): Promise<string> => {
  const id = await runs.start(asking);
  await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
  return id;
};

describe('many commands to a workflow run', () => {
  test('2,000 commands are taken, or refused with what to do, and the run ends well', async () => {
    const id = await startAsking();
    const given: string[] = [];
    const answers = new Map<string, number>();
    const send = async (path: string, body: unknown): Promise<number> => {
      const reply = await models.service.call('POST', `/runs/${id}/${path}`, body);
      const detail = reply.body?.errors?.[0].detail as string | undefined;
      const key = `${path} ${reply.status} ${detail?.slice(0, 30) ?? ''}`.trim();
      answers.set(key, (answers.get(key) ?? 0) + 1);
      return reply.status;
    };
    let number = 0;
    const steering = Array.from({ length: 8 }, async () => {
      while (number < 1_800) {
        number += 1;
        const guidance = `guidance ${number}.`;
        if ((await send('steer', { guidance })) === 202) {
          given.push(guidance);
        }
      }
    });
    // One after another: a run that is paused cannot be paused again.
    const pausing = (async () => {
      for (let pair = 0; pair < 100; pair += 1) {
        await send('pause', {});
        await send('unpause', {});
      }
    })();
    await Promise.all([...steering, pausing]);
    expect([...answers].sort()).toEqual([
      ['pause 200', 100],
      ['steer 202', 200],
      ['steer 429 A run takes 200 pieces of guid', 1_600],
      ['unpause 200', 100],
    ]);

    await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'ok' }, 204);
    await runs.untilStatus(id, 'completed');
    const [{ content }] = (await runs.get(`/runs/${id}/stages/write/turns`)).data;
    const prompted = [...String(content).matchAll(/guidance \d+\./g)].map(([text]) => text);
    expect([...prompted].sort()).toEqual([...given].sort());
    const lengths: number[] = [];
    const query = `WorkflowId = "${runWorkflowId(id)}"`;
    for await (const { historyLength } of models.service.temporal.client.workflow.list({ query })) {
      lengths.push(historyLength);
    }
    expect(lengths.length).toBeGreaterThan(1);
    expect(Math.max(...lengths)).toBeLessThan(600);
  });

  test('as many commands at once as callers send are all taken by a run that works', async () => {
    const id = await startAsking();
    const steer = (guidance: string) => models.service.call('POST', `/runs/${id}/steer`, { guidance });
    const sent = await Promise.all(Array.from({ length: 60 }, (_, n) => steer(`guidance ${n}.`)));
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 202));
    await runs.post(`/runs/${id}/cancel`, {}, 200);
  });

  test('more commands than a run without a worker takes are refused in time, with what to do', async () => {
    const stored = await openStoredRuns(models.service);
    const { temporal } = models.service;
    try {
      const { _id: id } = await stored.add({ status: 'running', dot_source: asking });
      const options = { workflowId: runWorkflowId(id), taskQueue: temporal.unique('nobody'), args: [] };
      const workflow = await temporal.client.workflow.start('workflowRun', options);
      const steer = () => models.service.call('POST', `/runs/${id}/steer`, { guidance: 'Be brief' });
      const sent = await Promise.all(Array.from({ length: 220 }, steer));
      const refusals = sent.map(({ status, body }) => `${status} ${body.errors[0].detail}`);
      expect(refusals.filter((refusal) => refusal.startsWith('429'))).toEqual(
        Array.from({ length: 120 }, () => '429 Too many commands are sent to this run at once. Try again.'),
      );
      expect(refusals.filter((refusal) => !refusal.startsWith('429'))).toEqual(
        Array.from(
          { length: 100 },
          () => '503 The run does not respond. Check whether the change took effect, and try again.',
        ),
      );
      await workflow.terminate();
    } finally {
      await stored.database.close();
    }
  });
});
