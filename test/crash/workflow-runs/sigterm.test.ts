import { eventually } from '../../../platform/testing/eventually';
import { aProviderWithCatalog } from '../../services/workflow-runs/models-under-test';
import { persistentCalls } from '../../services/workflow-runs/persistent-calls';
import { callerSettings } from '../../services/workflow-runs/service-under-test';
import { aGate } from '../../support/models/provider';
import { type Service, soonAgain, startService } from '../../support/stack/service';

const graph = 'digraph { start -> a -> exit; a [prompt="Hi", max_retries=0] }';

describe('one SIGTERM to the workflow-run service with max_retries=0', () => {
  test.each([
    ['drains the prompt under way, which is asked once', '20000', { answersWhileEnding: true, asked: 1 }],
    ['does not fail the run where the prompt takes longer', '100', { answersWhileEnding: false, asked: 2 }],
  ])('%s', async (_title, BOARD_DRAIN_MS, { answersWhileEnding, asked }) => {
    const models = await aProviderWithCatalog();
    const gate = aGate();
    let calls = 0;
    models.provider.answers(async function* () {
      calls += 1;
      yield 'well';
      await (calls === 1 ? gate.opened : undefined);
    });
    let service: Service | undefined;
    try {
      const settings = { WORKFLOW_RUNS_PORT: '0', BOARD_DRAIN_MS, ...callerSettings, ...models.settings };
      service = await startService(settings, { services: ['workflow-runs'], restart: soonAgain });
      const running = service;
      const call = persistentCalls<{ id: string; status: string; data: object[] }>(running);
      const { id } = await call('/runs', { dot_source: graph });
      await eventually(() => expect(calls).toBe(1));
      const before = running.pids()['workflow-runs']!;
      process.kill(before, 'SIGTERM');
      if (answersWhileEnding) {
        gate.open();
      }
      await eventually(() => expect([undefined, before]).not.toContain(running.pids()['workflow-runs']), {
        withinMs: 60_000,
      });
      await eventually(async () => expect(['completed', 'failed']).toContain((await call(`/runs/${id}`)).status), {
        withinMs: 60_000,
      });
      expect(await call(`/runs/${id}`)).toMatchObject({ status: 'completed' });
      const { data } = await call(`/runs/${id}/stages`);
      expect(data).toMatchObject([{ id: 'start' }, { id: 'a', status: 'completed', retries: 0 }, { id: 'exit' }]);
      expect(calls).toBe(asked);
    } finally {
      gate.open();
      await service?.close();
      await models.close();
    }
  });
});
