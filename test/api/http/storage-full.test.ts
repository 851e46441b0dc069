import { type ApiUnderTest, startTestApi } from '../api-under-test';

// How full MongoDB may get is set where it runs.
const onSqlite = process.env.MONGODB_URL ? describe.skip : describe;

onSqlite('a store that is full', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi({ BOARD_STORE_MAX_MB: '4' });
  });
  afterAll(() => board.close());

  it('is 507 with what is full, and is read and written again once there is space', async () => {
    const send = (n: number) =>
      board.call('POST', '/api/shared-resources', {
        body: { name: `Resource ${n}`, type: 'prompt', content: 'x'.repeat(40_000) },
        headers: { 'Idempotency-Key': `full-${n}` },
      });
    let n = 0;
    let reply = await send(n);
    const made: string[] = [];
    while (reply.status === 201 && n < 400) {
      made.push(reply.body.id as string);
      reply = await send((n += 1));
    }
    const stored = await board.api.context.sharedResources.list();
    // The response to the request is stored after the resource, and either may be what finds no space.
    const mayHaveHappened = stored.some(({ name }) => name === `Resource ${n}`);
    expect(reply).toMatchObject({
      status: 507,
      body: { code: 'STORAGE_FULL', details: { full: 'the embedded database', mayHaveHappened } },
    });
    expect(JSON.stringify(reply.body)).not.toContain(board.dataDir);
    expect((await board.call('GET', `/api/shared-resources/${made[0]}`)).status).toBe(200);
    for (const id of made.slice(0, 10)) {
      await board.api.context.sharedResources.remove(id);
    }
    expect((await send(n)).status).toBe(201);
  });
});
