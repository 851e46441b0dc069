import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { KillPoints } from '../../support/processes/kill-points';
import { persistently } from '../../support/processes/persistently';
import { stepLaunchKillPoints } from '../../support/processes/step-launch-kill-points';
import { attemptsOfStep, launchedOfStep, type StepAttempt } from '../../support/runs/workflow-steps';
import { type Service, soonAgain, startService } from '../../support/stack/service';
import { untilRun } from './until-run';

const path = '/api/workflows';
const agents = [{ id: 'coder', agent: 'elsewhere' }];
const steps = ['one', 'two'].map((id) => ({ id, agent: 'coder', input: id }));
const schema = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] };
const definitions = [
  { id: 'any', steps: [{ id: 'both', type: 'parallel', parallel: { steps, completion: 'any' } }] },
  { id: 'fast', steps: [{ id: 'both', type: 'parallel', parallel: { steps, fail_fast: true } }] },
  { id: 'schema', steps: [{ id: 'plan', type: 'agent', agent: 'coder', input: 'Plan', output: { schema } }] },
];

describe('kill -9 of the worker', () => {
  let files: TempDir;
  let points: KillPoints;
  let service: Service;

  beforeAll(async () => {
    files = await makeTempDir('workflow-joins');
    points = await stepLaunchKillPoints(join(files.path, 'points'));
    service = await startService(points.environment, { restart: soonAgain });
    await service.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
    for (const definition of definitions) {
      await service.call.ok('POST', path, { ...definition, name: definition.id, agents });
    }
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  const begin = async (id: string): Promise<string> => (await service.call.ok('POST', `${path}/${id}/runs`, {})).id;
  const report = ({ taskId, attemptId }: StepAttempt, end: { status: string; summary: string }) =>
    persistently(() => service.call.ok('POST', `/api/agents/${taskId}/complete`, { attemptId, ...end }));
  const runWhen = (id: string, expected: object) => untilRun(service.call, id, expected);
  const launched = async (runId: string, stepId: string): Promise<StepAttempt> =>
    (await launchedOfStep(service.call, { runId, stepId }))[0]!;
  const stateOf = async ({ taskId, attemptId }: StepAttempt) => {
    const { attempts } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
    return attempts.find(({ id }: { id: string }) => id === attemptId);
  };

  test.each([
    ['any', 'after observeLaunch', 'success', 'completed'],
    ['any', 'before stopLaunch', 'success', 'completed'],
    ['any', 'after stopLaunch', 'success', 'completed'],
    ['fast', 'before stopLaunch', 'failed', 'failed'],
    ['fast', 'after stopLaunch', 'failed', 'failed'],
  ])(
    '%s: %s of a branch that ends the others, stops them once and launches none again',
    async (id, step, end, status) => {
      const runId = await begin(id);
      const [one, two] = [await launched(runId, 'one'), await launched(runId, 'two')];
      await points.arm(step);
      await report(one, { status: end, summary: 'The first.' });
      await runWhen(runId, { status });
      expect(points.isReached()).toBe(true);
      await eventually(async () => expect(await stateOf(two)).toMatchObject({ state: 'ended' }), { withinMs: 60_000 });
      for (const stepId of ['one', 'two']) {
        expect([stepId, (await attemptsOfStep(service.call, runId, stepId)).length]).toEqual([stepId, 1]);
      }
    },
  );

  test.each(['after observeLaunch', 'before startLaunch', 'after launch'])(
    'schema: %s of a repair launches it once',
    async (step) => {
      const runId = await begin('schema');
      const first = await launched(runId, 'plan');
      await points.arm(step);
      await report(first, { status: 'success', summary: '{"score": "three"}' });
      const all = await launchedOfStep(service.call, { runId, stepId: 'plan', count: 2 });
      await report(
        all.find(({ taskId }) => taskId !== first.taskId)!,
        { status: 'success', summary: '{"score": 3}' },
      );
      const run = await runWhen(runId, { status: 'completed' });
      expect(points.isReached()).toBe(true);
      expect(run.steps).toMatchObject([{ status: 'completed', retries: 1, output: { score: 3 } }]);
      expect(await attemptsOfStep(service.call, runId, 'plan')).toHaveLength(2);
    },
  );
});
