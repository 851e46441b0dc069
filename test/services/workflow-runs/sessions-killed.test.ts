import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, startService } from '../../support/stack/service';
import { eventsOf, readEvents, type StreamEvent } from './events';
import { aProviderWithCatalog } from './models-under-test';
import { callerSettings, tokenOf } from './service-under-test';

describe('sessions after kills', () => {
  test('a message that was accepted is answered, whatever is killed in the middle', async () => {
    const models = await aProviderWithCatalog();
    const { provider, settings } = models;
    let service: Service | undefined;
    try {
      // The first answer never comes to its end.
      provider.answers(async function* () {
        yield 'Half';
        await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
      });
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', ...callerSettings, ...settings },
        { services: ['workflow-runs'] },
      );
      const call = (path: string, body?: unknown) =>
        fetch(`${service?.serviceUrls['workflow-runs']}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      const created = await call('/sessions', { content: 'Hi' });
      expect(created.status).toBe(201);
      const { id } = (await created.json()) as { id: string };
      const seen: StreamEvent[] = [];
      for await (const event of eventsOf(await call(`/sessions/${id}/events`))) {
        seen.push(event);
        if (event.event === 'content_delta') {
          break;
        }
      }

      provider.answers(() => ['Whole']);
      killPart(service, 'workflow-runs');
      // Its watchers come back as soon as it does.
      const again = await persistently(() => call(`/sessions/${id}/events`));
      const reported = await readEvents(again, ({ event }) => event === 'done');

      expect(reported.slice(0, seen.length)).toEqual(seen);
      const deltas = reported.filter(({ event }) => event === 'content_delta').map(({ data }) => data);
      expect(deltas).toEqual([
        { delta: 'Half', turn: 1, round: 1, attempt: 1, offset: 0 },
        { delta: 'Whole', turn: 1, round: 1, attempt: 2, offset: 0 },
      ]);
      expect(reported.filter(({ event }) => event === 'assistant_turn')).toHaveLength(1);
      const { turns } = (await (await call(`/sessions/${id}`)).json()) as { turns: { content: string }[] };
      expect(turns.map(({ content }) => content)).toEqual(['Hi', 'Whole']);
    } finally {
      await service?.close();
      await models.close();
    }
  });
});
