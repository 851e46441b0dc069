import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import type { KillPoints } from '../../support/processes/kill-points';
import { persistently } from '../../support/processes/persistently';
import { stepLaunchKillPoints } from '../../support/processes/step-launch-kill-points';
import { type Service, soonAgain, startService } from '../../support/stack/service';
import { untilRun } from './until-run';

const path = '/api/workflows';
const agents = [{ id: 'writer', agent: 'rememberer' }];
const steps = [
  { id: 'plan', type: 'agent', agent: 'writer' },
  { id: 'gate', type: 'gate' },
  { id: 'build', type: 'agent', agent: 'writer', input: 'Build', session: { mode: 'continue' } },
];

describe('kill -9 while a workflow run continues a session', () => {
  let files: TempDir;
  let points: KillPoints;
  let service: Service;

  beforeAll(async () => {
    files = await makeTempDir('workflow-sessions');
    points = await stepLaunchKillPoints(join(files.path, 'points'));
    service = await startService(points.environment, { restart: soonAgain });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([scriptAgent('rememberer')]);
    await service.call.ok('POST', path, { id: 'flow', name: 'Flow', agents, steps });
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  const runWhen = (id: string, expected: object) => untilRun(service.call, id, expected);

  test.each([
    ['before it is decided which', 'before startLaunch'],
    ['after its message was stored', 'after put'],
    ['after its agent was launched, and before that is recorded', 'after launch'],
    ['while its end is read', 'after observeLaunch'],
  ])('of the worker %s launches it once', async (_when, step) => {
    const { call } = service;
    const { id: taskId } = await call.createTask({ title: 'x', description: 'x', git: { repo: 'sample' } });
    const { id: runId } = await call.ok('POST', `${path}/flow/runs`, { taskId });
    await runWhen(runId, { status: 'blocked', currentStep: 'gate' });
    await points.arm(step);
    await persistently(() => call.ok('POST', `${path}/runs/${runId}/steps/gate/approve`, {}));
    const run = await runWhen(runId, { status: 'completed', error: null });
    expect(points.isReached()).toBe(true);
    expect(run.steps.at(-1)).toMatchObject({ output: 'follow-up of thread-7: Build', visits: 1 });
    const { attempts } = await call.ok('GET', `/api/agents/${taskId}/attempts`);
    // Recovery tries again what the killed worker was running.
    expect(attempts.filter(({ retryNumber }: { retryNumber: number }) => retryNumber === 0)).toHaveLength(2);
  });
});
