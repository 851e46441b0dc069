import { startServiceUnderTest, type WorkflowRunsUnderTest } from './service-under-test';
import { openStoredRuns, type StoredRuns } from './stored-runs';

let service: WorkflowRunsUnderTest;
let stored: StoredRuns;
beforeAll(async () => {
  service = await startServiceUnderTest();
  stored = await openStoredRuns(service);
  await service.call('PUT', '/verification/criteria/clean', { name: 'Clean', question: 'Is the code clean?' });
  await put('dead-code', {});
  await put('lint', { type: 'ai', mode: 'evaluate' });
  await put('style', { mode: 'disabled' });
});
afterAll(async () => {
  await stored.database.close();
  await service.close();
});

const control = (fields: object) => ({
  name: 'No dead code',
  description: 'Finds code that nobody calls.',
  type: 'automated',
  criterion: 'clean',
  ...fields,
});
const put = (slug: string, fields: object) => service.call('PUT', `/verification/controls/${slug}`, control(fields));
const details = (body: { errors: { detail: string }[] }) => body.errors.map(({ detail }) => detail);

describe('criteria', () => {
  it('are listed with their controls, in pages', async () => {
    await service.call('PUT', '/verification/criteria/safe', { name: 'Safe', question: 'Is it safe?' });
    const { body } = await service.call('GET', '/verification/criteria?page[limit]=1');
    expect(body).toEqual({
      data: [
        {
          name: 'Clean',
          slug: 'clean',
          question: 'Is the code clean?',
          controls: [
            expect.objectContaining({ slug: 'dead-code', mode: 'active', type: 'automated' }),
            expect.objectContaining({ slug: 'lint', mode: 'evaluate', type: 'ai' }),
            expect.objectContaining({ slug: 'style', mode: 'disabled' }),
          ],
        },
      ],
      meta: { has_more: true },
    });
    expect((await service.call('GET', '/verification/criteria/safe')).body).toMatchObject({
      name: 'Safe',
      controls: [],
    });
  });

  it('are written over, and removed once they have no controls', async () => {
    await service.call('PUT', '/verification/criteria/gone', { name: 'Gone', question: 'Why?' });
    const { body } = await service.call('PUT', '/verification/criteria/gone', { name: 'Gone', question: 'When?' });
    expect(body.question).toBe('When?');
    expect((await service.call('DELETE', '/verification/criteria/gone')).status).toBe(204);
    expect(await service.call('DELETE', '/verification/criteria/gone')).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Criterion not found.' }] },
    });
    expect(await service.call('DELETE', '/verification/criteria/clean')).toMatchObject({
      status: 409,
      body: { errors: [{ detail: 'Criterion has controls.' }] },
    });
    expect((await service.call('GET', '/verification/criteria/gone')).status).toBe(404);
  });

  it.each<[string, object, string]>([
    ['fine', { name: 'Fine' }, 'question'],
    ['fine', { name: 'Fine', question: 'Is it?', colour: 'red' }, 'colour'],
    ['fine', { name: 'NUL \0', question: 'Is it?' }, 'name'],
    ['Not%20Fine', { name: 'Fine', question: 'Is it?' }, 'slug'],
  ])('are refused as %s %j', async (slug, body, field) => {
    const answer = await service.call('PUT', `/verification/criteria/${slug}`, body);
    expect(answer.status).toBe(400);
    expect(details(answer.body)).toEqual([expect.stringContaining(`${field}: `)]);
  });
});

describe('controls', () => {
  it('are listed with their criterion', async () => {
    const { body } = await service.call('GET', '/verification/controls?page[offset]=1&page[limit]=1');
    expect(body).toMatchObject({
      data: [{ slug: 'lint', criterion: { name: 'Clean', slug: 'clean' }, mode: 'evaluate' }],
      meta: { has_more: true },
    });
  });

  it('are reported in detail', async () => {
    await put('dead-code', { rationale: 'It rots.', checks: ['callers'], pass_example: 'a()', fail_example: 'b()' });
    expect((await service.call('GET', '/verification/controls/dead-code')).body).toEqual({
      control: {
        name: 'No dead code',
        slug: 'dead-code',
        type: 'automated',
        description: 'Finds code that nobody calls.',
        criterion: { name: 'Clean', slug: 'clean' },
      },
      performance: { mode: 'active', evaluations: [] },
      control_detail: { rationale: 'It rots.', checks: ['callers'], pass_example: 'a()', fail_example: 'b()' },
      recent_results: [],
      siblings: [
        { name: 'No dead code', slug: 'lint', type: 'ai', mode: 'evaluate' },
        { name: 'No dead code', slug: 'style', type: 'automated', mode: 'disabled' },
      ],
    });
    expect((await service.call('GET', '/verification/controls/none')).status).toBe(404);
  });

  it('are removed', async () => {
    await put('short-lived', {});
    expect((await service.call('DELETE', '/verification/controls/short-lived')).status).toBe(204);
    expect((await service.call('DELETE', '/verification/controls/short-lived')).status).toBe(404);
  });

  it.each<[object, string]>([
    [{ type: 'guess' }, 'type'],
    [{ mode: 'sometimes' }, 'mode'],
    [{ criterion: 'none' }, 'criterion'],
  ])('are refused with %j', async (fields, field) => {
    const answer = await put('odd', fields);
    expect(answer.status).toBe(400);
    expect(details(answer.body)).toEqual([expect.stringContaining(`${field}: `)]);
  });
});

describe('what controls found in a run', () => {
  const record = (run: string, slug: string, body: object) =>
    service.call('POST', `/runs/${run}/verification/${slug}`, body);

  it('is na until it is recorded, and then the latest', async () => {
    const { _id } = await stored.add({ title: 'Tidy up' });
    const status = async () => {
      const [clean] = (await service.call('GET', `/runs/${_id}/verification`)).body.data;
      return [
        clean.status,
        ...clean.controls.map((each: { slug: string; status: string }) => `${each.slug} ${each.status}`),
      ];
    };
    expect(await status()).toEqual(['na', 'dead-code na', 'lint na']);
    // A control that is only evaluated does not count.
    await record(_id, 'lint', { status: 'fail' });
    expect(await status()).toEqual(['na', 'dead-code na', 'lint fail']);
    expect(await record(_id, 'dead-code', { status: 'fail', expected: 'fail' })).toMatchObject({
      status: 201,
      body: { slug: 'dead-code', status: 'fail' },
    });
    expect(await status()).toEqual(['fail', 'dead-code fail', 'lint fail']);
    await record(_id, 'dead-code', { status: 'pass' });
    expect(await status()).toEqual(['pass', 'dead-code pass', 'lint fail']);

    const { body } = await service.call('GET', '/verification/controls/dead-code');
    expect(body.recent_results).toEqual([
      {
        run: { id: _id, title: 'Tidy up' },
        workflow: { slug: 'ship-it' },
        result: 'pass',
        timestamp: expect.any(String),
      },
    ]);
    // It passed at the second try, and missed what it should have found.
    expect(body.performance).toEqual({ mode: 'active', pass_at_1: 0, f1: 0, evaluations: ['pass'] });
  });

  it('is shown with a control, the newest first', async () => {
    await put('ordered', {});
    for (const status of ['pass', 'skip', 'fail']) {
      await record((await stored.add())._id, 'ordered', { status });
    }
    const { body } = await service.call('GET', '/verification/controls/ordered');
    expect(body.performance).toEqual({ mode: 'active', pass_at_1: 0.5, evaluations: ['fail', 'skip', 'pass'] });
    const { data } = (await service.call('GET', '/verification/controls')).body;
    expect(data).toContainEqual(expect.objectContaining({ slug: 'ordered', pass_at_1: 0.5 }));
    await service.call('DELETE', '/verification/controls/ordered');
  });

  it('is refused where it cannot be', async () => {
    const { _id } = await stored.add();
    const unknownRun = '01HZ0000000000000000000000';
    expect((await record(_id, 'lint', { status: 'good' })).status).toBe(400);
    expect(await record(_id, 'style', { status: 'pass' })).toMatchObject({ status: 409 });
    expect(await record(_id, 'none', { status: 'pass' })).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Control not found.' }] },
    });
    expect(await record(unknownRun, 'lint', { status: 'pass' })).toMatchObject({ status: 404 });
    expect(await service.call('GET', `/runs/${unknownRun}/verification`)).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Run not found.' }] },
    });
  });
});

describe('signoffs', () => {
  const sha = 'a'.repeat(40);
  const signoff = (fields: object = {}) => ({
    control: 'lint',
    repository: 'shop',
    commit_sha: sha,
    status: 'pass',
    ...fields,
  });
  const sign = (fields: object = {}) => service.call('POST', '/verification/signoffs', signoff(fields));
  const statuses = async (query: string): Promise<string[]> =>
    (await service.call('GET', `/verification/signoffs?${query}`)).body.data.map(
      ({ status }: { status: string }) => status,
    );

  it('are kept as they were made, and the latest is the first', async () => {
    const made = await sign({ status: 'pending', url: 'https://ci.example/1', source: 'ci', description: 'Soon.' });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      id: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      control: { slug: 'lint' },
      repository: { name: 'shop' },
      commit_sha: sha,
      result: 'pending',
      status: 'pending',
      url: 'https://ci.example/1',
      source: 'ci',
      description: 'Soon.',
      created_at: expect.any(String),
    });
    await sign({ status: 'fail' });
    await sign({ status: 'pass' });
    expect(await statuses(`control=lint&repository=shop&commit_sha=${sha}`)).toEqual(['pass', 'fail', 'pending']);
    expect((await service.call('GET', `/verification/signoffs/${made.body.id}`)).body).toEqual(made.body);
    expect(await service.call('GET', '/verification/signoffs/01HZ0000000000000000000000')).toMatchObject({
      status: 404,
      body: { errors: [{ detail: 'Signoff not found.' }] },
    });
  });

  it('name their result as result or as status', async () => {
    const made = await sign({ repository: 'named', status: undefined, result: 'fail' });
    expect(made).toMatchObject({ status: 201, body: { result: 'fail', status: 'fail' } });
    expect(await sign({ repository: 'named', result: 'pass' })).toMatchObject({
      status: 201,
      body: { result: 'pass' },
    });
    expect(await statuses('repository=named')).toEqual(['pass', 'fail']);
  });

  it('are filtered by each and by all', async () => {
    const commit_sha = 'B'.repeat(40);
    await sign({ repository: 'other', status: 'fail' });
    await sign({ control: 'dead-code', repository: 'other', commit_sha });
    expect(await statuses('repository=other')).toEqual(['pass', 'fail']);
    expect(await statuses('repository=other&control=lint')).toEqual(['fail']);
    expect(await statuses(`commit_sha=${commit_sha}`)).toEqual(['pass']);
    expect(await statuses('control=none')).toEqual([]);
    const page = await service.call('GET', '/verification/signoffs?repository=other&page[limit]=1');
    expect(page.body.meta).toEqual({ has_more: true });
  });

  it.each<[object, string]>([
    [{ status: 'skip' }, 'status'],
    [{ commit_sha: 'main' }, 'commit_sha'],
    [{ repository: '' }, 'repository'],
    [{ url: 'javascript:alert(1)' }, 'url'],
    [{ control: 'none' }, 'control'],
    [{ result: 'skip' }, 'result'],
    [{ result: 'fail' }, 'status'],
    [{ status: undefined }, 'result'],
  ])('are refused with %j', async (fields, field) => {
    const answer = await sign(fields);
    expect(answer.status).toBe(400);
    expect(details(answer.body)).toEqual([expect.stringContaining(`${field}: `)]);
  });
});

it('is all there after a restart, and for callers with a token only', async () => {
  await service.restart();
  expect((await service.call('GET', '/verification/criteria/clean')).body.controls).toHaveLength(3);
  expect((await service.call('GET', '/verification/criteria', undefined, null)).status).toBe(401);
});
