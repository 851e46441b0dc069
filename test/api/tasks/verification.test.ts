import { type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('verification API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const add = (id: string, body: unknown, options = {}) =>
    board.call('POST', `/api/tasks/${id}/verification`, { body, ...options });
  const patch = (id: string, stepId: string, body: unknown) =>
    board.call('PATCH', `/api/tasks/${id}/verification/${stepId}`, { body });

  it('adds a step and answers the task with it', async () => {
    const { id } = await board.createTask();
    const { status, body } = await add(id, { description: 'Tests <i>pass</i>' });
    expect(status).toBe(201);
    expect(body.verificationSteps).toEqual([
      { id: expect.stringMatching(/^step_[0-9a-f]{12}$/), description: 'Tests pass', checked: false },
    ]);
  });

  it('sets the time when a step is checked, keeps it while it is, and clears it', async () => {
    const { id } = await board.createTask();
    const [step] = (await add(id, { description: 'Tests pass' })).body.verificationSteps;
    const [checked] = (await patch(id, step.id, { checked: true })).body.verificationSteps;
    expect(checked).toEqual({ ...step, checked: true, checkedAt: expect.any(String) });
    expect(Math.abs(Date.now() - Date.parse(checked.checkedAt))).toBeLessThan(60_000);

    expect((await patch(id, step.id, { checked: true })).body.verificationSteps).toEqual([checked]);
    const described = await patch(id, step.id, { description: 'All tests pass' });
    expect(described.body.verificationSteps).toEqual([{ ...checked, description: 'All tests pass' }]);

    const [unchecked] = (await patch(id, step.id, { checked: false })).body.verificationSteps;
    expect(unchecked).toEqual({ ...step, description: 'All tests pass' });
  });

  it('requires a step, and does so no more', async () => {
    const { id } = await board.createTask();
    const [step] = (await add(id, { description: 'Tests pass', required: true })).body.verificationSteps;
    expect(step).toMatchObject({ required: true, checked: false });
    expect((await patch(id, step.id, { required: false })).body.verificationSteps).toEqual([
      { ...step, required: false },
    ]);
  });

  it('deletes one step, and keeps the others', async () => {
    const { id } = await board.createTask();
    const [first] = (await add(id, { description: 'one' })).body.verificationSteps;
    await add(id, { description: 'two' });
    const remove = () => board.call('DELETE', `/api/tasks/${id}/verification/${first.id}`);
    expect((await remove()).body.verificationSteps).toEqual([expect.objectContaining({ description: 'two' })]);
    expect(await remove()).toMatchObject({ status: 404, body: { details: { id: first.id } } });
    expect(await patch(id, first.id, { checked: true })).toMatchObject({ status: 404 });
  });

  it('loses none of twenty checks that come at once', async () => {
    const { id } = await board.createTask();
    await Promise.all(Array.from({ length: 20 }, (_, number) => add(id, { description: `step ${number}` })));
    const steps: { id: string }[] = (await board.call('GET', `/api/tasks/${id}`)).body.verificationSteps;
    await Promise.all(steps.map((step) => patch(id, step.id, { checked: true })));
    const { body } = await board.call('GET', `/api/tasks/${id}`);
    expect(body.verificationSteps.map(({ checked }: { checked: boolean }) => checked)).toEqual(Array(20).fill(true));
  });

  it.each([
    ['POST', {}, 'description'],
    ['POST', { description: 'x'.repeat(501) }, 'description'],
    ['POST', { description: '<br>' }, 'description'],
    ['POST', { description: 'a', checked: true }, 'checked'],
    ['PATCH', { checked: 'yes' }, 'checked'],
    ['PATCH', { checkedAt: '2026-01-01T00:00:00Z' }, 'checkedAt'],
  ])('refuses a %s of %j by the path of the field', async (method, body, path) => {
    const { id } = await board.createTask();
    const [step] = (await add(id, { description: 'one' })).body.verificationSteps;
    const refused = method === 'POST' ? await add(id, body) : await patch(id, step.id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs a task, the permission to write, and the revision the caller states', async () => {
    const { id } = await board.createTask();
    expect(await add('task_20260101_nobody', { description: 'a' })).toMatchObject({ status: 404 });
    expect(await add(id, { description: 'a' }, { key: readKey })).toMatchObject({ status: 403 });
    expect(await add(id, { description: 'a', expectedRevision: 9 })).toMatchObject({ status: 409 });
  });
});
