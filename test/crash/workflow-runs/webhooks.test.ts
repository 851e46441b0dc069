import { eventually } from '../../../platform/testing/eventually';
import { persistentCalls } from '../../services/workflow-runs/persistent-calls';
import { callerSettings } from '../../services/workflow-runs/service-under-test';
import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

const graph = 'digraph { start -> hook -> wait -> exit; hook [type=webhook]; wait [type=wait, duration="500ms"] }';

describe('webhooks of workflow runs after kills', () => {
  test('the URL stays, and a call that was accepted is in the run once', async () => {
    let service: Service | undefined;
    try {
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', ...callerSettings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const url = (path: string): string => new URL(path, running.serviceUrls['workflow-runs']).href;
      const call = persistentCalls<{ id: string; status: string; data: { url: string; kind: string }[] }>(running);
      const { id } = await call('/runs', { dot_source: graph });
      const webhook = () =>
        eventually(async () => {
          const { data } = await call(`/runs/${id}/webhooks`);
          expect(data).toHaveLength(1);
          return new URL(data[0]!.url).pathname;
        });
      const path = await webhook();
      killPart(running, 'workflow-runs');
      expect(await webhook()).toBe(path);
      const deliver = () =>
        fetch(url(path), { method: 'POST', body: '{"state":"good"}', headers: { 'content-type': 'application/json' } });
      // A call without an answer while its run did not respond may be sent again: it may have been taken, which is a 409 then.
      let unanswered = 0;
      const delivered = () =>
        eventually(async () => {
          const { status } = await deliver();
          unanswered += Number(status === 503);
          expect(status).not.toBe(503);
          return status;
        });
      const status = await delivered();
      expect(unanswered === 0 ? [202] : [202, 409]).toContain(status);
      killPart(running, 'workflow-runs');
      await eventually(async () => expect(await call(`/runs/${id}`)).toMatchObject({ status: 'completed' }));
      expect(await call(`/runs/${id}/context`)).toMatchObject({ hook_output: { state: 'good' } });
      expect((await persistently(deliver)).status).toBe(410);
      const stages = (await call(`/runs/${id}/stages`)).data.map(({ kind }) => kind);
      expect(stages).toEqual(['start', 'webhook', 'wait', 'exit']);
    } finally {
      await service?.close();
    }
  });
});
