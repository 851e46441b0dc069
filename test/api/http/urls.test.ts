import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('URLs of requests', () => {
  beforeAll(async () => {
    board = await startWholeTestApi();
  });
  afterAll(() => board.close());

  const noUrls = [
    'example.org/hook',
    'http://',
    'http://a b',
    'https://example.org/a b',
    'https://example.org\\@other.example/',
    'javascript:alert(1)',
    'ftp://example.org/',
    'https://me:letmein@example.org/',
  ];
  const hook = (url: string) => ({ name: 'Ship', event: 'task.done', action: { type: 'webhook', url } });
  const fields = { workspaceId: 'north', name: 'North', capabilities: [] };

  const places: [string, string, (url: string) => unknown, string][] = [
    ['POST', '/api/hooks', hook, 'action.url'],
    ['PATCH', '/api/hooks/:hook', (url) => ({ action: { type: 'webhook', url } }), 'action.url'],
    ['PUT', '/api/workspace-capabilities/manifest', (endpoint) => ({ ...fields, endpoint }), 'endpoint'],
    ['POST', '/api/workspace-capabilities/trusted', (endpoint) => ({ ...fields, endpoint }), 'endpoint'],
    ['POST', '/api/ceremonies', (prUrl) => ({ kind: 'design_review', target: { prUrl } }), 'target.prUrl'],
    ['POST', '/api/ceremonies', (ciUrl) => ({ kind: 'design_review', target: { ciUrl } }), 'target.ciUrl'],
    ['POST', '/api/notifications', (targetUrl) => ({ message: 'm', targetUrl }), 'targetUrl'],
    ['POST', '/api/tasks', (prUrl) => ({ title: 'a', git: { prUrl } }), 'git.prUrl'],
    ['PATCH', '/api/tasks/:task', (prUrl) => ({ git: { prUrl } }), 'git.prUrl'],
    ['PATCH', '/api/tasks/:task', (url) => ({ github: { issueNumber: 1, repo: 'a/b', url } }), 'github.url'],
  ];

  it.each(places)(
    '%s %s refuses what is no URL with the path of the field (%#)',
    async (method, pattern, body, path) => {
      const { id: hookId } = (await board.call('POST', '/api/hooks', { body: hook('https://example.org/') })).body;
      const { id: taskId } = (await board.call('POST', '/api/tasks', { body: { title: 'a' } })).body;
      const target = pattern.replace(':hook', hookId as string).replace(':task', taskId as string);
      for (const url of noUrls) {
        const refused = await board.call(method, target, { body: body(url) });
        expect([url, refused.status, refused.body.details?.issues?.[0]?.path]).toEqual([url, 400, path]);
      }
      const taken = await board.call(method, target, { body: body('https://example.org/a%20b') });
      expect(taken.status).not.toBe(400);
    },
  );

  it('names a path of the service as the address of a notification', async () => {
    const send = (targetUrl: string) => board.call('POST', '/api/notifications', { body: { message: 'm', targetUrl } });
    expect((await send('/tasks/task_1')).status).toBe(201);
    expect((await send('//evil.example/')).status).toBe(400);
  });
});
