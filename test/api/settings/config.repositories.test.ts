import { createHostStore } from '../../../stores/runs/hosts/host-store';
import { aRepository } from '../../support/git/repository';
import { testTemporal } from '../../support/stack/temporal';
import { agentKey, type ApiUnderTest, readKey, startTestApi, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
let path: string;
beforeEach(async () => {
  board = await startTestApi();
  path = await aRepository(board.dataDir);
});
afterEach(() => board.close());

const validate = (body: object, key?: string) =>
  board.call('POST', '/api/config/repos/validate', { body, ...(key !== undefined && { key }) });
const branches = (rest: string) => board.call('GET', `/api/config/repos/${rest}`, { key: readKey });
const addRepository = (fields: object = {}) =>
  board.call('POST', '/api/config/repos', { body: { name: 'atlas', path, ...fields } });
const asleep = async () => {
  const anHourAgo = () => new Date(Date.now() - 3_600_000);
  await (await createHostStore(board.api.context.database, anHourAgo)).announce('asleep', 'asleep.example');
};

describe('the validation of a repository', () => {
  it.each([
    ['no path', {}, 'path'],
    ['a relative path', { path: 'srv/atlas' }, 'path'],
    ['a path that climbs', { path: '/srv/../etc' }, 'path'],
    ['an unknown field', { path: '/srv/atlas', url: 'x' }, 'url'],
    ['a name that is a path', { path: '/srv/atlas', name: '../atlas' }, 'name'],
    ['a remote that is no text', { path: '/srv/atlas', remote: 1 }, 'remote'],
    ['a host that was never seen', { path: '/srv/atlas', hostId: 'nobody' }, 'hostId'],
  ])('is refused with %s', async (_case, body, field) => {
    const refused = await validate(body);
    expect([refused.status, refused.body.details.issues?.[0].path]).toEqual([400, field]);
  });

  it('needs a live host, and inspects no path of the machine of the API instead', async () => {
    expect(await validate({ path })).toMatchObject({ status: 409, body: { code: 'HOST_UNAVAILABLE' } });
    await asleep();
    expect(await validate({ path, hostId: 'asleep' })).toMatchObject({
      status: 409,
      body: { code: 'HOST_UNAVAILABLE' },
    });
  });

  it('of a path that no repository is configured with needs settings:write, whether something is there or not', async () => {
    await asleep();
    const { body } = await board.call('POST', '/api/identity/workspaces/local/api-tokens', {
      body: { name: 'reader', role: 'admin', scopes: ['settings:read'] },
    });
    const ofPath = (candidate: object) => validate(candidate, body.token as string);
    const forbidden = { status: 403, body: { code: 'FORBIDDEN', details: { required: ['settings:write'] } } };
    expect(await ofPath({ path })).toMatchObject(forbidden);
    expect(await ofPath({ path: '/nowhere/at/all' })).toMatchObject(forbidden);
    await addRepository();
    expect(await ofPath({ path })).toMatchObject({ status: 409, body: { code: 'HOST_UNAVAILABLE' } });
    expect(await ofPath({ path: `${path}/.git` })).toMatchObject(forbidden);
  });

  it('is refused to callers who may only read, or may read no settings', async () => {
    expect(await validate({ path }, readKey)).toMatchObject({ status: 403, body: { code: 'WRITE_FORBIDDEN' } });
    expect(await validate({ path }, agentKey)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });
});

describe('the branches that a repository names', () => {
  it.each(['--upload-pack=/x', '-x', 'main..x', 'a b', '@', 'HEAD', 'main:a', 'main^{commit}', '../x'])(
    'cannot be %s',
    async (name) => {
      await addRepository({ name: 'taken' });
      const change = (body: object) => board.call('PATCH', '/api/config/repos/taken', { body });
      for (const request of [addRepository, change]) {
        const { status, body } = await request({ defaultBranch: name, mergeBranches: ['next', name] });
        expect(status).toBe(400);
        expect(body.details.issues.map(({ path }: { path: string }) => path)).toEqual([
          'defaultBranch',
          'mergeBranches.1',
        ]);
      }
    },
  );
});

describe('the branches of a repository', () => {
  it('are those of one that is configured, on a live host that has it', async () => {
    expect((await branches('atlas/branches')).status).toBe(404);
    await addRepository();
    expect(await branches('atlas/branches')).toMatchObject({ status: 409, body: { code: 'HOST_UNAVAILABLE' } });
    const unknown = await branches('atlas/branches?hostId=nobody');
    expect([unknown.status, unknown.body.details.issues[0].path]).toEqual([400, 'hostId']);
  });

  it('are bounded, and read by a cursor of this service', async () => {
    await addRepository();
    for (const [query, field] of [
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['cursor=nonsense', 'cursor'],
      ['path=/etc', 'path'],
    ]) {
      const refused = await branches(`atlas/branches?${query}`);
      expect([refused.status, refused.body.details.issues?.[0].path]).toEqual([400, field]);
    }
  });

  it('are refused to callers who may read no settings', async () => {
    const refused = await board.call('GET', '/api/config/repos/atlas/branches', { key: agentKey });
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });
});

it('a host that does not respond is a 503 for both', async () => {
  const temporal = await testTemporal();
  const whole = await startWholeTestApi({}, temporal.client);
  try {
    const body = { name: 'atlas', path };
    expect((await whole.call('POST', '/api/config/repos', { body })).status).toBe(201);
    await (await createHostStore(whole.api.context.database)).announce('silent', 'silent.example');
    const late = await Promise.all([
      whole.call('POST', '/api/config/repos/validate', { body: { path } }),
      whole.call('GET', '/api/config/repos/atlas/branches'),
    ]);
    expect(late.map((reply) => [reply.status, reply.body.code])).toEqual(Array(2).fill([503, 'REPOSITORY_PENDING']));
  } finally {
    await whole.close();
    await temporal.close();
  }
});
