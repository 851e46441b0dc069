import { eventually } from '../../../../platform/testing/eventually';
import { readEvents } from '../events';
import { startWithModels, type WithModels } from '../models-under-test';
import { aRunClient, type RunClient } from './run-client';

let models: WithModels;
let runs: RunClient;
beforeAll(async () => {
  models = await startWithModels({ WORKFLOW_RUNS_PING_MS: '100' });
  runs = aRunClient(models.service);
});
beforeEach(() => models.provider.answers(() => ['well']));
afterAll(() => models.close());

describe('the event stream of a run', () => {
  it('pings while nothing happens', async () => {
    const id = await runs.start('digraph { start -> ok -> exit; ok [shape=hexagon] }');
    const events = await readEvents(
      await models.service.open('GET', `/runs/${id}/events`),
      ({ event }) => event === 'ping',
    );
    expect(events.at(-1)).toEqual({ event: 'ping', id: undefined, data: {} });
    await eventually(async () => expect(await runs.questions(id)).toHaveLength(1));
    await runs.post(`/runs/${id}/questions/ok/answer`, { value: 'yes' }, 204);
    await runs.untilStatus(id, 'completed');
  });
});

test('a stage whose answer is cut at its limit of tokens names that', async () => {
  models.provider.answers(() => ['Once upon', { cutAtLimit: true }]);
  const id = await runs.start('digraph { start -> write -> exit; write [prompt="Hi", max_tokens=2] }');
  await runs.untilStatus(id, 'completed');
  const [, write] = await runs.stages(id);
  expect(write).toMatchObject({ id: 'write', status: 'completed', stop_reason: 'max_tokens', notes: 'Once upon' });
  expect((await runs.stages(id)).filter((stage) => 'stop_reason' in stage)).toHaveLength(1);
});
