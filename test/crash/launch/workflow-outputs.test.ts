import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { KillPoints } from '../../support/processes/kill-points';
import { persistently } from '../../support/processes/persistently';
import { stepLaunchKillPoints } from '../../support/processes/step-launch-kill-points';
import { type Service, soonAgain, startService } from '../../support/stack/service';
import { untilRun } from './until-run';

const path = '/api/workflows';

describe('kill -9 while a workflow run writes its result', () => {
  let files: TempDir;
  let points: KillPoints;
  let service: Service;

  beforeAll(async () => {
    files = await makeTempDir('workflow-outputs');
    points = await stepLaunchKillPoints(join(files.path, 'points'));
    service = await startService(points.environment, { restart: soonAgain });
    await service.call.ok('POST', path, {
      ...{ id: 'flow', name: 'Flow', agents: [{ id: 'none' }], steps: [{ id: 'ask', type: 'gate' }] },
      outputTargets: [
        { type: 'comment', content: 'Answered: {{steps.ask.answer}}' },
        { type: 'document', path: 'a.md', content: '{{steps.ask.answer}}' },
      ],
    });
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  test.each([
    ['before it is written', 'before writeOutput'],
    ['after it is written, and before that is recorded', 'after writeOutput'],
  ])('of the worker %s writes it once', async (_when, step) => {
    const { call } = service;
    const { id: taskId } = await call.createTask({ title: 'x', description: 'x' });
    const { id: runId } = await call.ok('POST', `${path}/flow/runs`, { taskId });
    await untilRun(call, runId, { status: 'blocked' });
    await points.arm(step);
    await persistently(() => call.ok('POST', `${path}/runs/${runId}/steps/ask/approve`, { comment: step }));
    await untilRun(call, runId, { status: 'completed', error: null });
    expect(points.isReached()).toBe(true);
    const { comments } = await call.ok('GET', `/api/tasks/${taskId}`);
    expect(comments).toMatchObject([{ text: `Answered: ${step}` }]);
    expect(await call.ok('GET', '/api/docs/file/a.md')).toMatchObject({ content: step });
    const { entries } = await call.ok('GET', '/api/audit?action=doc.write');
    expect(entries.filter(({ details }: { details: { runId: string } }) => details.runId === runId)).toHaveLength(1);
  });
});
