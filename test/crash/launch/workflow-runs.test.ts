import { persistently } from '../../support/processes/persistently';
import { attemptsOfStep, finishStep, launchedOfStep } from '../../support/runs/workflow-steps';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';
import { untilRun } from './until-run';

const path = '/api/workflows';
const agents = [{ id: 'coder', agent: 'elsewhere' }];
const steps = [
  { id: 'plan', type: 'agent', agent: 'coder', input: 'Plan' },
  {
    id: 'both',
    type: 'parallel',
    parallel: {
      steps: [
        { id: 'left', agent: 'coder', input: 'Left' },
        { id: 'right', agent: 'coder', input: 'Right' },
      ],
    },
  },
  { id: 'approval', type: 'gate' },
  { id: 'last', type: 'agent', agent: 'coder', input: 'Last' },
];

describe('kill -9 in the middle of a workflow run', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({}, { restart: soonAgain });
    await service.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
    await service.call.ok('POST', path, { id: 'flow', name: 'Flow', agents, steps });
  });
  afterAll(() => service.close());

  const runWhen = (id: string, expected: object) => untilRun(service.call, id, expected);

  /** Takes a run to its end, with `kill` at every step of it. */
  async function runToEnd(kill: () => void, start: () => Promise<{ id: string }>): Promise<string> {
    const { call } = service;
    const { id: runId } = await start();
    kill();
    await launchedOfStep(call, { runId, stepId: 'plan' });
    kill();
    await finishStep(call, { runId, stepId: 'plan' });
    kill();
    await launchedOfStep(call, { runId, stepId: 'left' });
    kill();
    await finishStep(call, { runId, stepId: 'left' });
    await finishStep(call, { runId, stepId: 'right' });
    kill();
    await runWhen(runId, { status: 'blocked', currentStep: 'approval' });
    kill();
    await persistently(async () => {
      const { status } = await call.ok('GET', `${path}/runs/${runId}/steps/approval/status`);
      if (status === 'blocked') {
        await call.ok('POST', `${path}/runs/${runId}/steps/approval/approve`, {});
      }
    });
    kill();
    await finishStep(call, { runId, stepId: 'last' });
    kill();
    return runId;
  }

  async function expectOnce(runId: string): Promise<void> {
    const run = await runWhen(runId, { status: 'completed', error: null });
    expect(run.steps.map(({ status, visits }: { status: string; visits: number }) => [status, visits])).toEqual(
      run.steps.map(() => ['completed', 1]),
    );
    for (const stepId of ['plan', 'left', 'right', 'last']) {
      expect([stepId, (await attemptsOfStep(service.call, runId, stepId)).length]).toEqual([stepId, 1]);
    }
  }

  it('of the worker does nothing twice, and the run is completed', async () => {
    const start = () => service.call.ok('POST', `${path}/flow/runs`, {});
    await expectOnce(await runToEnd(() => killPart(service, 'worker'), start));
  });

  it('of the API does nothing twice for a caller who repeats its request', async () => {
    const key = { 'Idempotency-Key': 'workflow-run-once' };
    const request = () => service.call.ok('POST', `${path}/flow/runs`, {}, key);
    const start = async () => {
      const first = request();
      killPart(service, 'api');
      await first.catch(() => undefined);
      return persistently(request);
    };
    await expectOnce(await runToEnd(() => undefined, start));
    const runs = await service.call.ok('GET', `${path}/runs?workflowId=flow`);
    expect(runs).toHaveLength(2);
  });
});
