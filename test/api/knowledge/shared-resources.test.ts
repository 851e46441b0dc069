import { nextMillisecond } from '../../support/next-millisecond';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('shared resources API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, rest = '', options: CallOptions = {}) =>
    board.call(method, `/api/shared-resources${rest}`, options);
  const skill = { name: 'Review', type: 'skill', content: '# How to review', tags: ['code'], projectIds: ['web'] };
  const create = async (fields: object = {}) => {
    await nextMillisecond();
    return (await call('POST', '', { body: { ...skill, ...fields } })).body;
  };
  const idsOf = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);

  it('is made, read and deleted once', async () => {
    const made = await call('POST', '', { body: skill });
    expect(made).toMatchObject({ status: 201, body: { ...skill, revision: 1 } });
    const { id } = made.body;
    expect((await call('GET', `/${id}`)).body).toEqual(made.body);
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    expect((await call('DELETE', `/${id}`)).status).toBe(404);
    expect((await call('GET', `/${id}`)).status).toBe(404);
  });

  it('takes the other name of its projects', async () => {
    const { projectIds: _projectIds, ...rest } = skill;
    const made = await call('POST', '', { body: { ...rest, mountedIn: ['shop', 'shop'] } });
    expect(made.body.projectIds).toEqual(['shop']);
  });

  it('is listed by type, project, tag and name, the last changed first, in parts', async () => {
    const first = await create({ name: 'Listed one', type: 'prompt', tags: ['listed'], projectIds: ['list-project'] });
    const second = await create({ name: 'Listed two', tags: ['listed'] });
    expect(idsOf(await call('GET', '?tag=listed'))).toEqual([second.id, first.id]);
    expect(idsOf(await call('GET', '?tag=listed&limit=1&offset=1'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?tag=listed&type=prompt'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?project=list-project'))).toEqual([first.id]);
    expect(idsOf(await call('GET', '?name=LISTED%20t'))).toEqual([second.id]);
  });

  it('changes the fields that are named, one writer at a revision', async () => {
    const { id } = await create();
    const body = { name: '<b>Better</b>', tags: ['x', 'x'], expectedRevision: 1 };
    const replies = await Promise.all(Array.from({ length: 4 }, () => call('PATCH', `/${id}`, { body })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const { body: changed } = await call('GET', `/${id}`);
    expect(changed).toMatchObject({ ...skill, name: 'Better', tags: ['x'], revision: 2 });
    expect((await call('PATCH', `/${id}`, { body: { tags: null } })).body).toMatchObject({ tags: [], name: 'Better' });
    expect((await call('DELETE', `/${id}`, { headers: { 'If-Match': '1' } })).status).toBe(409);
  });

  it('loses no project when several mount it at once', async () => {
    const { id } = await create({ projectIds: [] });
    const projects = Array.from({ length: 10 }, (_, number) => `p${number}`);
    await Promise.all(projects.map((one) => call('POST', `/${id}/mount`, { body: { projectIds: [one] } })));
    expect((await call('GET', `/${id}`)).body.projectIds.sort()).toEqual(projects);
    const left = await call('POST', `/${id}/unmount`, { body: { projectIds: [...projects.slice(1), 'elsewhere'] } });
    expect(left.body.projectIds).toEqual(['p0']);
    expect((await call('POST', `/${id}/mount`, { body: { mountedIn: ['p0', 'p1'] } })).body.projectIds).toEqual([
      'p0',
      'p1',
    ]);
    const many = Array.from({ length: 200 }, (_, number) => `q${number}`);
    expect((await call('POST', `/${id}/mount`, { body: { projectIds: many } })).status).toBe(409);
    expect((await call('POST', '/resource_000000000000/mount', { body: { projectIds: ['a'] } })).status).toBe(404);
  });

  it.each([
    ['another type', { ...skill, type: 'poem' }, 'type'],
    ['no content', { ...skill, content: '' }, 'content'],
    ['a name of tags', { ...skill, name: '<i></i>' }, 'name'],
    ['both names of its projects', { ...skill, mountedIn: ['a'] }, 'mountedIn'],
    ['a field that is none', { ...skill, mood: 'good' }, 'mood'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await call('POST', '', { body });
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('is read with settings:read and changed with settings:write', async () => {
    expect((await call('GET', '', { key: readKey })).status).toBe(200);
    expect((await call('GET', '', { key: agentKey })).status).toBe(403);
    expect((await call('POST', '', { body: skill, key: agentKey })).status).toBe(403);
  });
});
