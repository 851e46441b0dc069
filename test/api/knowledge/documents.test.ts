import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('documents API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const call = (method: string, rest = '', options: CallOptions = {}) =>
    board.call(method, `/api/doc-freshness${rest}`, options);
  const runbook = { path: 'docs/run.md', type: 'runbook', project: 'shop', maxAgeDays: 10, title: 'How to run' };
  const track = async (fields: object = {}) => (await call('POST', '', { body: { ...runbook, ...fields } })).body;
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  /** A document that was reviewed so many days ago. */
  const reviewed = async (days: number, fields: object = {}) => {
    const { id } = await track(fields);
    return (await call('POST', `/${id}/review`, { body: { reviewer: 'ada', reviewedAt: daysAgo(days) } })).body;
  };
  const idsOf = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);

  it('is tracked, read, changed and forgotten', async () => {
    const tracked = await call('POST', '', { body: { ...runbook, title: '<i>How</i> to run' } });
    expect(tracked).toMatchObject({ status: 201, body: { ...runbook, ageDays: 0, stale: false, revision: 1 } });
    const { id } = tracked.body;
    expect((await call('GET', `/${id}`)).body).toEqual(tracked.body);
    const changed = await call('PATCH', `/${id}`, { body: { maxAgeDays: 3, project: null, expectedRevision: 1 } });
    expect(changed.body).toMatchObject({ maxAgeDays: 3, title: 'How to run', revision: 2 });
    expect(changed.body.project).toBeUndefined();
    expect(await call('PATCH', `/${id}`, { body: { maxAgeDays: 4 }, headers: { 'If-Match': '1' } })).toMatchObject({
      status: 409,
      body: { details: { currentRevision: 2, current: { id, maxAgeDays: 3 } } },
    });
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/review'],
    ] as const) {
      expect((await call(method, `/${id}${rest}`)).status).toBe(404);
    }
  });

  it('is reviewed by the caller, now, unless the review states otherwise', async () => {
    const old = await reviewed(11);
    expect(old).toMatchObject({ stale: true, ageDays: 11, reviewer: 'ada' });
    const fresh = await call('POST', `/${old.id}/review`);
    expect(fresh.body).toMatchObject({ stale: false, ageDays: 0, reviewer: 'admin' });
    const future = await call('POST', `/${old.id}/review`, { body: { reviewedAt: '2999-01-01T00:00:00Z' } });
    expect(future.body.details.issues).toEqual([expect.objectContaining({ path: 'reviewedAt' })]);
  });

  it('is listed by project, type and freshness, the oldest review first', async () => {
    const fresh = await track();
    const old = await reviewed(30);
    const guide = await reviewed(40, { type: 'guide', project: 'web' });
    expect(idsOf(await call('GET'))).toEqual([guide.id, old.id, fresh.id]);
    expect(idsOf(await call('GET', '?limit=1&offset=1'))).toEqual([old.id]);
    expect(idsOf(await call('GET', '?stale=true'))).toEqual([guide.id, old.id]);
    expect(idsOf(await call('GET', '?stale=false'))).toEqual([fresh.id]);
    expect(idsOf(await call('GET', '?type=guide'))).toEqual([guide.id]);
    expect(idsOf(await call('GET', '?project=shop'))).toEqual([old.id, fresh.id]);
  });

  it('alerts about what is stale until it is acknowledged', async () => {
    await track();
    const old = await reviewed(12);
    const critical = await reviewed(30);
    const { body: alerts } = await call('GET', '/alerts');
    expect(alerts).toEqual([
      expect.objectContaining({ documentId: critical.id, severity: 'critical', acknowledged: false, ageDays: 30 }),
      expect.objectContaining({ documentId: old.id, severity: 'medium', path: runbook.path, maxAgeDays: 10 }),
    ]);
    expect((await call('GET', '/summary')).body).toEqual({ total: 3, fresh: 1, stale: 1, critical: 1, alertCount: 2 });
    expect(idsOf(await call('GET', '/alerts?severity=critical'))).toEqual([alerts[0].id]);
    await call('POST', `/${critical.id}/review`);
    expect(idsOf(await call('GET', '/alerts'))).toEqual([alerts[1].id]);
  });

  it('is acknowledged once, for as long as it is the same staleness', async () => {
    const { id } = await reviewed(12);
    const [alert] = (await call('GET', '/alerts')).body;
    const first = await call('POST', `/alerts/${alert.id}/acknowledge`);
    expect(first.body).toMatchObject({ id: alert.id, acknowledged: true, acknowledgedBy: 'service:admin' });
    expect((await call('POST', `/alerts/${alert.id}/acknowledge`)).body).toEqual(first.body);
    expect(idsOf(await call('GET', '/alerts?acknowledged=true'))).toEqual([alert.id]);
    expect((await call('GET', '/summary')).body).toMatchObject({ stale: 1, alertCount: 0 });
    await call('POST', `/${id}/review`, { body: { reviewedAt: daysAgo(11) } });
    expect((await call('GET', '/alerts')).body).toEqual([
      expect.objectContaining({ documentId: id, acknowledged: false }),
    ]);
    expect((await call('POST', `/alerts/${alert.id}/acknowledge`)).status).toBe(404);
  });

  it.each([
    ['another type', { ...runbook, type: 'poem' }, 'type'],
    ['no path', { type: 'guide', maxAgeDays: 1 }, 'path'],
    ['no age', { ...runbook, maxAgeDays: 0 }, 'maxAgeDays'],
    ['a field that is none', { ...runbook, mood: 'good' }, 'mood'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await call('POST', '', { body });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('is read with settings:read and changed with settings:write', async () => {
    expect((await call('GET', '', { key: readKey })).status).toBe(200);
    expect((await call('GET', '/alerts', { key: agentKey })).status).toBe(403);
    expect((await call('POST', '', { body: runbook, key: agentKey })).status).toBe(403);
  });
});
