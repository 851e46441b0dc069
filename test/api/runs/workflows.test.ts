import { agentKey, type ApiUnderTest, readKey, startWholeTestApi } from '../api-under-test';

const path = '/api/workflows';
const agents = [{ id: 'coder', agent: 'example' }];

const aDefinition = (fields: object = {}) => ({
  id: 'build',
  name: 'Build',
  agents,
  variables: { what: 'a wall', parts: ['north', 'south'] },
  steps: [
    { id: 'plan', type: 'agent', agent: 'coder', input: 'Plan {{what}} for $5', phase: 'plan' },
    { id: 'approval', type: 'gate', input: 'Approve {{steps.plan.output}}?' },
    {
      id: 'parts',
      type: 'loop',
      agent: 'coder',
      input: 'Build {{item}}',
      loop: { over: 'parts', continue_on_error: true },
    },
    {
      id: 'reviews',
      type: 'parallel',
      parallel: {
        steps: [
          { id: 'one', agent: 'coder', input: 'Review' },
          { id: 'two', agent: 'coder', input: 'Review again' },
        ],
      },
      condition: 'steps.parts.output contains built',
    },
  ],
  ...fields,
});

const launching = (id: string, fields: object) => ({ id, type: 'agent', agent: 'coder', ...fields });
const withStep = (step: object) => aDefinition({ steps: [{ id: 'a', type: 'agent', agent: 'coder', ...step }] });

describe('workflow definitions', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startWholeTestApi();
  });
  afterAll(() => board.close());

  const create = (fields: object = {}, key?: string) =>
    board.call('POST', path, { body: aDefinition(fields), ...(key !== undefined && { key }) });
  const lint = async (definition: object) =>
    (await board.call('POST', `${path}/authoring/lint`, { body: { definition } })).body;

  it('are created, read, listed and deleted', async () => {
    expect(await create({ id: 'first' })).toMatchObject({ status: 201, body: { success: true, workflowId: 'first' } });
    expect((await create({ id: 'first', name: 'Another' })).status).toBe(409);
    const { body } = await board.call('GET', `${path}/first`);
    expect(body).toMatchObject({ id: 'first', version: 1, revision: 1, steps: [{ id: 'plan' }, {}, {}, {}] });
    const { body: list } = await board.call('GET', path);
    expect(list).toContainEqual(
      expect.objectContaining({ id: 'first', steps: 4, rights: { view: true, edit: true, execute: true } }),
    );
    expect((await board.call('DELETE', `${path}/first`)).status).toBe(204);
    expect((await board.call('GET', `${path}/first`)).status).toBe(404);
  });

  it('keep their earlier versions', async () => {
    await create({ id: 'versioned' });
    const second = await board.call('PUT', `${path}/versioned`, {
      body: aDefinition({ id: undefined, name: 'Second' }),
    });
    expect(second).toMatchObject({ status: 200, body: { name: 'Second', version: 2, revision: 2 } });
    const jump = await board.call('PUT', `${path}/versioned`, {
      body: aDefinition({ id: 'versioned', name: 'Seventh', version: 7, expectedRevision: 2 }),
    });
    expect(jump.body).toMatchObject({ version: 7 });
    const back = await board.call('PUT', `${path}/versioned`, { body: aDefinition({ id: 'versioned', version: 7 }) });
    expect(back).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'version' }] } } });
    const stale = await board.call('PUT', `${path}/versioned`, {
      body: aDefinition({ id: 'versioned', expectedRevision: 1 }),
    });
    expect(stale.status).toBe(409);
    const { body } = await board.call('GET', `${path}/versioned/versions`);
    expect(body).toMatchObject([
      { version: 2, definition: { name: 'Second' } },
      { version: 1, definition: { name: 'Build' } },
    ]);
    expect((await board.call('GET', `${path}/versioned/versions/7`)).body).toMatchObject({
      definition: { name: 'Seventh' },
    });
    expect((await board.call('GET', `${path}/versioned/versions/3`)).status).toBe(404);
  });

  it('are seen, changed and run only by those who may', async () => {
    await create({ id: 'closed' });
    const asAgent = (method: string, rest = '', body?: unknown) =>
      board.call(method, `${path}/closed${rest}`, { key: agentKey, body });
    expect((await asAgent('GET')).status).toBe(404);
    expect((await board.call('GET', path, { key: agentKey })).body).not.toContainEqual(
      expect.objectContaining({ id: 'closed' }),
    );
    expect((await asAgent('POST', '/dry-run', {})).status).toBe(404);
    const { actor } = { actor: 'agent:worker' };
    const opened = await board.call('PUT', `${path}/closed/access`, { body: { viewers: [actor] } });
    expect(opened).toMatchObject({ status: 200, body: { access: { viewers: [actor], public: false } } });
    expect((await asAgent('GET')).status).toBe(200);
    expect((await asAgent('GET', '/access')).body.rights).toEqual({ view: true, edit: false, execute: false });
    expect(await asAgent('POST', '/dry-run', {})).toMatchObject({
      status: 403,
      body: { code: 'WORKFLOW_ACCESS_DENIED' },
    });
    await board.call('PUT', `${path}/closed/access`, { body: { viewers: [], public: true } });
    expect((await asAgent('POST', '/dry-run', {})).status).toBe(200);
    expect((await board.call('GET', `${path}/closed`, { key: readKey })).status).toBe(200);
    expect((await asAgent('PUT', '', aDefinition({ id: 'closed' }))).status).toBe(403);
  });

  it.each([
    ['an unknown field of a step', withStep({ colour: 'red' }), 'steps.0.colour'],
    ['an unknown mode of a session', withStep({ session: { mode: 'reuse' } }), 'steps.0.session.mode'],
    ['a clean-up of a session', withStep({ session: { mode: 'fresh', cleanup: 'delete' } }), 'steps.0.session.cleanup'],
    ['a session of no step before', withStep({ input: 'x', session: { mode: 'continue' } }), 'steps.0.session.mode'],
    [
      'a session that continues without a message',
      aDefinition({ steps: [launching('a', { input: 'x' }), launching('b', { session: { mode: 'continue' } })] }),
      'steps.1.session.mode',
    ],
    [
      'a session that branches continue',
      aDefinition({
        steps: [
          launching('a', { input: 'x' }),
          {
            id: 'p',
            type: 'parallel',
            parallel: {
              steps: ['x', 'y'].map((id) => ({ id, agent: 'coder', input: 'x', session: { mode: 'continue' } })),
            },
          },
        ],
      }),
      'steps.1.parallel.steps.0.session.mode',
    ],
    ['a schema without an input', withStep({ output: { schema: {} } }), 'steps.0.output.schema'],
    ['a schema that is none', withStep({ input: 'x', output: { schema: { type: 'text' } } }), 'steps.0.output.schema'],
    ['a part of an output without a schema', withStep({ input: '{{steps.a.output.x}}' }), 'steps.0.input'],
    ['a pipeline', aDefinition({ pipeline: [] }), 'pipeline'],
    ['no output targets', aDefinition({ outputTargets: [] }), 'outputTargets'],
    ['an unknown output target', aDefinition({ outputTargets: [{ type: 'mail' }] }), 'outputTargets.0.type'],
    [
      'a document elsewhere',
      aDefinition({ outputTargets: [{ type: 'document', path: '../a.md' }] }),
      'outputTargets.0.path',
    ],
    [
      'an unknown value in an output',
      aDefinition({ outputTargets: [{ type: 'comment', content: '{{lost}}' }] }),
      'outputTargets.0.content',
    ],
    [
      'an output of no step',
      aDefinition({ steps: [{ id: 'a', type: 'gate' }], outputTargets: [{ type: 'comment' }] }),
      'outputTargets.0.content',
    ],
    [
      'a comment by a schedule',
      aDefinition({ schedule: { cron: '0 9 * * *' }, outputTargets: [{ type: 'comment' }] }),
      'outputTargets.0.type',
    ],
    ['schemas by other names', aDefinition({ schemas: { 'A b': {} } }), 'schemas.A b'],
    ['a named schema that is none', aDefinition({ schemas: { review: { type: 'text' } } }), 'schemas.review'],
    [
      'a schema that is not there',
      { ...withStep({ input: 'x', output: { schema: 'constructor' } }), schemas: { review: {} } },
      'steps.0.output.schema',
    ],
    ['a tool without a server', withStep({ type: 'tool', agent: undefined, tool: 'x' }), 'steps.0.server'],
    [
      'an unknown value in arguments',
      aDefinition({ steps: [{ id: 'a', type: 'tool', server: 's', tool: 'x', arguments: { to: ['{{lost}}'] } }] }),
      'steps.0.arguments.to.0',
    ],
    ['an agent that is not listed', withStep({ agent: 'unlisted' }), 'steps.0.agent'],
    ['an unknown value', withStep({ input: '{{lost}}' }), 'steps.0.input'],
    ['the output of no step', withStep({ input: '{{steps.lost.output}}' }), 'steps.0.input'],
    ['a list in a text', withStep({ input: '{{parts}}' }), 'steps.0.input'],
    ['a condition that cannot be read', withStep({ condition: 'is it so?' }), 'steps.0.condition'],
    ['a condition over nothing', withStep({ condition: 'lost = 1' }), 'steps.0.condition'],
    ['a step to retry that is none', withStep({ on_fail: { retry_step: 'lost' } }), 'steps.0.on_fail.retry_step'],
    ['a schedule that is none', aDefinition({ schedule: { cron: 'at noon' } }), 'schedule.cron'],
    ['a schedule of steps without input', { ...withStep({}), schedule: { cron: '0 9 * * *' } }, 'schedule'],
    ['an id that is a path', aDefinition({ id: 'runs' }), 'id'],
    ['an id twice', aDefinition({ steps: [withStep({}).steps[0], withStep({}).steps[0]] }), 'steps'],
    ['an id of an object', aDefinition({ steps: [{ id: 'constructor', type: 'gate' }] }), 'steps.0.id'],
    ['a variable that runs set', aDefinition({ variables: { last_output: 'x' } }), 'variables.last_output'],
    ['a loop without an end', withStep({ type: 'loop', loop: {} }), 'steps.0.loop.completion'],
    [
      'too many steps',
      aDefinition({ steps: Array.from({ length: 51 }, (_, n) => ({ id: `s${n}`, type: 'gate' })) }),
      'steps',
    ],
    [
      'a fast failure of any parallel step',
      aDefinition({
        steps: [
          {
            id: 'p',
            type: 'parallel',
            parallel: {
              steps: [
                { id: 'x', agent: 'coder' },
                { id: 'y', agent: 'coder' },
              ],
              completion: 'any',
              fail_fast: true,
            },
          },
        ],
      }),
      'steps.0.parallel.fail_fast',
    ],
  ])('are refused with %s, at create and by lint', async (_case, definition, at) => {
    const { valid, issues } = await lint(definition);
    expect({ valid, paths: issues.map(({ path: each }: { path: string }) => each) }).toMatchObject({
      valid: false,
      paths: expect.arrayContaining([at]),
    });
    expect((await board.call('POST', path, { body: definition })).status).toBe(400);
  });

  it('are refused when their loops unroll to more nodes than a run has', async () => {
    const parts = Array.from({ length: 50 }, (_, n) => `part ${n}`);
    const loops = Array.from({ length: 5 }, (_, n) => ({
      ...{ id: `l${n}`, type: 'loop', agent: 'coder', input: '{{item}}', loop: { over: 'parts', max_iterations: 50 } },
    }));
    const { issues } = await lint(aDefinition({ variables: { parts }, steps: loops }));
    expect(issues).toMatchObject([{ path: 'steps', message: expect.stringContaining('200') }]);
  });

  it('are converted between JSON and YAML, and hostile YAML is refused', async () => {
    const convert = (body: object) => board.call('POST', `${path}/authoring/yaml`, { body });
    const { body } = await convert({ definition: aDefinition() });
    expect((await convert({ yaml: body.yaml })).body.definition).toEqual(aDefinition());
    for (const yaml of ['a: &a [1]\nb: *a', '__proto__: {}', '- a', `a: ${'['.repeat(500)}`]) {
      expect(await convert({ yaml })).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'yaml' }] } } });
    }
    expect((await convert({ yaml: 'x', definition: {} })).status).toBe(400);
    expect((await convert({})).status).toBe(400);
  });

  it('show what a run would do', async () => {
    await create({ id: 'dry' });
    const dry = (context?: object) => board.call('POST', `${path}/dry/dry-run`, { body: { context } });
    const { body } = await dry({ what: 'a tower', parts: ['top'] });
    expect(body).toMatchObject({ valid: true, issues: [] });
    const byId = new Map(body.nodes.map((node: { id: string }) => [node.id, node]));
    expect(byId.get('plan')).toMatchObject({ kind: 'launch', agent: 'example', input: 'Plan a tower for $5' });
    expect(byId.get('parts.1')).toMatchObject({ stepId: 'parts', input: 'Build top' });
    expect(byId.has('parts.2')).toBe(false);
    expect((await dry({ unknown: 1 })).body).toMatchObject({ valid: false, issues: [{ path: 'context.unknown' }] });
    expect((await dry({ parts: 'one' })).body).toMatchObject({ valid: false, issues: [{ path: 'context.parts' }] });
  });

  it('write in the name of their caller only what that may write, and comments only on a task', async () => {
    const steps = [{ id: 'ask', type: 'gate' }];
    const outputTargets = [
      { type: 'comment', content: 'x' },
      { type: 'document', path: 'a.md', content: 'x' },
    ];
    expect((await create({ id: 'writing', steps, outputTargets })).status).toBe(201);
    await board.call('PUT', `${path}/writing/access`, { body: { public: true } });
    const { body: dry } = await board.call('POST', `${path}/writing/dry-run`, { body: {} });
    expect(dry.nodes.map(({ id, kind }: { id: string; kind: string }) => [id, kind])).toEqual(
      expect.arrayContaining([
        ['.output.1', 'write'],
        ['.output.2', 'write'],
      ]),
    );
    const begin = (body: object, key?: string) =>
      board.call('POST', `${path}/writing/runs`, { body, ...(key !== undefined && { key }) });
    expect(await begin({}, agentKey)).toMatchObject({
      ...{ status: 403, body: { details: { required: ['settings:write'] } } },
    });
    expect(await begin({})).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'taskId' }] } } });
  });

  it('have schemas that outputs name, whose parts are values', async () => {
    const schema = { type: 'object', properties: { score: { type: 'number' } } };
    const definition = aDefinition({
      id: 'by-name',
      schemas: { review: schema },
      steps: [
        launching('a', { input: 'x', output: { schema: 'review' } }),
        launching('b', { input: '{{steps.a.output.score}}' }),
      ],
    });
    expect(await lint(definition)).toEqual({ valid: true, issues: [] });
    expect((await board.call('POST', path, { body: definition })).status).toBe(201);
    const { body } = await board.call('POST', `${path}/by-name/dry-run`, { body: {} });
    expect(body.nodes.find(({ id }: { id: string }) => id === 'a').input).toContain(JSON.stringify(schema));
  });

  it('are made of recipes, each of which can be created', async () => {
    const { body: recipes } = await board.call('GET', `${path}/recipes`);
    expect(recipes.length).toBeGreaterThan(2);
    for (const { id } of recipes) {
      const made = await board.call('POST', `${path}/recipes/${id}/materialize`, { body: { agent: 'example' } });
      expect(made.status).toBe(200);
      expect((await board.call('POST', path, { body: made.body })).status).toBe(201);
    }
    expect((await board.call('POST', `${path}/recipes/lost/materialize`, { body: {} })).status).toBe(404);
  });
});
