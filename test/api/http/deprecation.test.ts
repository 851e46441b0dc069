import { createApp } from '../../../api/app';
import type { WorkflowClients } from '../../../api/workflow-clients';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { fullPath } from '../../../platform/http/routing/route-contract';
import { type ApiUnderTest, startTestApi } from '../api-under-test';

const halfYearMs = 182 * 86_400_000;

describe('deprecated routes', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const announced = ({ headers }: { headers: Headers }) =>
    ['Deprecation', 'Sunset', 'Link'].map((name) => headers.get(name));

  it('announce their end and their successor', async () => {
    expect(announced(await board.call('GET', '/api/v1/observations/search?q=a'))).toEqual([
      '@1795478400',
      'Wed, 24 Nov 2027 00:00:00 GMT',
      '</api/observations>; rel="successor-version"',
    ]);
  });

  it('announce them with a refusal too, by the path of the request', async () => {
    const refused = await board.call('PATCH', '/api/tasks/task_20260101_absent/subtasks/a%20b/criteria/0');
    expect(refused.status).toBe(404);
    expect(announced(refused)[2]).toBe(
      '</api/tasks/task_20260101_absent/subtasks/a%20b/criteria>; rel="successor-version"',
    );
    const anonymous = await board.call('GET', '/api/observations/search', { key: null });
    expect([anonymous.status, announced(anonymous)[0]]).toEqual([401, '@1795478400']);
  });

  it('link to the next page beside their successor', async () => {
    const { id } = await board.createTask();
    for (const content of ['one', 'two']) {
      await board.call('POST', `/api/tasks/${id}/observations`, { body: { content, type: 'context' } });
    }
    const link = (await board.call('GET', '/api/observations/search?q=o&limit=1')).headers.get('Link');
    expect(link).toMatch(/rel="next", <\/api\/observations>; rel="successor-version"$/);
  });

  it('are the only ones that announce anything', async () => {
    expect(announced(await board.call('GET', '/api/v1/observations?q=a'))).toEqual([null, null, null]);
  });

  it('are marked in the OpenAPI document', async () => {
    const { paths } = (await board.call('GET', '/api/openapi.json')).body as OpenApiDocument;
    const marked = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { deprecated }]) => (deprecated ? [`${method} ${path}`] : [])),
    );
    expect(marked).toEqual([
      'get /api/observations/search',
      'patch /api/tasks/{taskId}/subtasks/{subtaskId}/criteria/{index}',
    ]);
    expect(paths['/api/observations/search']?.get).toMatchObject({
      description: expect.stringContaining('/api/observations instead'),
      responses: { 200: { headers: { Deprecation: expect.any(Object), Sunset: expect.any(Object) } } },
    });
  });

  it('are served for half a year at least, and have a successor that is served', () => {
    const { routes } = createApp(board.api.context, { connect: () => ({}) as WorkflowClients });
    const all = routes.contracts;
    const unsound = all.filter(({ method, deprecated }) => {
      if (!deprecated) {
        return false;
      }
      const { since, sunset, successor } = deprecated;
      const stays = all.some((one) => one.method === method && fullPath(one) === `/api${successor}` && !one.deprecated);
      return !stays || Date.parse(sunset) - Date.parse(since) < halfYearMs;
    });
    expect(unsound).toEqual([]);
  });
});
