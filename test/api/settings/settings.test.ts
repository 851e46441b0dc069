import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('settings API', () => {
  beforeEach(async () => {
    board = await startTestApi({ BOARD_MAX_RUNS: '7' });
  });
  afterEach(() => board.close());

  const path = '/api/settings/features';
  const read = async () => (await board.call('GET', path, { key: readKey })).body;
  const patch = (body: unknown, headers: Record<string, string> = {}) => board.call('PATCH', path, { body, headers });

  it('start with the defaults, and the number of runs from the environment', async () => {
    const { status, body, headers } = await board.call('GET', path);
    expect(status).toBe(200);
    expect(headers.get('ETag')).toBe('"settings:features:0"');
    expect(body).toMatchObject({
      enforcement: { ceremonyDesignReview: 'off', ceremonyFailureRetrospective: 'off', workspaceTrust: 'warn' },
      agents: { autoCommitOnComplete: false, timeoutMinutes: 240 },
      admission: {
        enabled: true,
        leaseMs: 30_000,
        request: { runs: 1, processes: 1, memoryMb: 512 },
        limits: {
          global: { runs: 7, processes: null, memoryMb: null },
          host: { runs: null, processes: null, memoryMb: null },
        },
        fanOutBreaker: { enabled: true, maxDescendants: 256, maxDepth: 16, pressurePercent: 95 },
        queue: { globalLimit: 1_000, perWorkspaceLimit: 100, maxRetries: 3, scheduler: { levels: 4, agingMs: 60_000 } },
      },
    });
  });

  it('are changed in part, at any depth, and the rest stays', async () => {
    await patch({ darkMode: true, admission: { limits: { global: { runs: 3 }, host: { memoryMb: 4_096 } } } });
    const { body, headers } = await patch({ admission: { queue: { scheduler: { levels: 2 } } } });
    expect(headers.get('X-Resource-Revision')).toBe('2');
    expect(body).toMatchObject({
      darkMode: true,
      admission: {
        limits: {
          global: { runs: 3, processes: null },
          host: { runs: null, memoryMb: 4_096 },
        },
        queue: { globalLimit: 1_000, scheduler: { levels: 2, evaluationLimit: 32 } },
      },
    });
    expect(await read()).toEqual(body);
  });

  it('take a ceiling away with null', async () => {
    await patch({ admission: { limits: { global: { runs: null } } } });
    expect((await read()).admission.limits.global.runs).toBeNull();
  });

  it('can be read and sent back whole', async () => {
    const before = await read();
    expect((await patch(before)).body).toEqual(before);
  });

  it.each([
    ['an unknown flag', { darkMode: true, lightMode: true }, 'lightMode'],
    [
      'an unknown field deep inside',
      { admission: { queue: { scheduler: { turbo: 1 } } } },
      'admission.queue.scheduler.turbo',
    ],
    ['a value of another type', { admission: { limits: { host: { runs: '3' } } } }, 'admission.limits.host.runs'],
    [
      'a number out of bounds',
      { admission: { fanOutBreaker: { pressurePercent: 101 } } },
      'admission.fanOutBreaker.pressurePercent',
    ],
    ['an unknown mode', { enforcement: { ceremonyDesignReview: 'maybe' } }, 'enforcement.ceremonyDesignReview'],
    ['an inherited name', { admission: { constructor: {} } }, 'admission.constructor'],
  ])('refuse %s and change nothing', async (_case, body, issue) => {
    const before = await read();
    const refused = await patch(body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path: issue }));
    expect(await read()).toEqual(before);
  });

  it('lose no change of writers at once, and of those with one revision exactly one wins', async () => {
    const limits = ['global', 'workspace', 'rootTask', 'provider', 'host'];
    await Promise.all(limits.map((scope, at) => patch({ admission: { limits: { [scope]: { runs: at + 1 } } } })));
    const { admission } = await read();
    expect(limits.map((scope) => admission.limits[scope].runs)).toEqual([1, 2, 3, 4, 5]);
    const replies = await Promise.all(
      [10, 11, 12].map((runs) => patch({ admission: { limits: { global: { runs } } } }, { 'If-Match': '5' })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it('are changed by administrators only', async () => {
    expect((await board.call('PATCH', path, { body: {}, key: agentKey })).status).toBe(403);
    expect((await board.call('GET', path, { key: null })).status).toBe(401);
  });
});
