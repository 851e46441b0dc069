import { join } from 'node:path';
import Libsql from 'libsql';
import { eventually } from '../../../platform/testing/eventually';
import { type ApiUnderTest, type Reply, startTestApi } from '../api-under-test';

// MongoDB has no lock that one process holds over all writers.
const onSqlite = process.env.MONGODB_URL ? describe.skip : describe;

onSqlite('while another process has the store locked', () => {
  let board: ApiUnderTest;
  let other: Libsql.Database;
  beforeAll(async () => {
    board = await startTestApi({ BOARD_STORE_WAIT_MS: '300' });
    other = new Libsql(join(board.dataDir, 'runboard.sqlite'), { timeout: 2_000 });
  });
  afterAll(async () => {
    other.close();
    await board.close();
  });

  const create = (title: string, headers: Record<string, string> = {}): Promise<Reply> =>
    board.call('POST', '/api/tasks', { body: { title }, headers });
  const titled = async (title: string): Promise<{ id: string }[]> =>
    ((await board.call('GET', '/api/tasks')).body.tasks as { id: string; title: string }[]).filter(
      (one) => one.title === title,
    );
  const entriesOf = async (id: string): Promise<number[]> => {
    const audit = (await board.call('GET', `/api/audit?resource=${id}`)).body;
    const activity = (await board.call('GET', `/api/activity?taskId=${id}`)).body;
    return [audit.entries.length, activity.length];
  };

  /** Takes the lock at the moment in which the task's file is there and nothing is recorded of it. */
  function lockOnceOnBoard(): void {
    const stop = board.api.context.board.onChange(() => {
      stop();
      other.exec('BEGIN IMMEDIATE');
    });
  }

  it('a create that is answered 503 before it began has not happened, and its key is free', async () => {
    other.exec('BEGIN IMMEDIATE');
    const [keyed, plain] = await Promise.all([create('Never', { 'Idempotency-Key': 'never' }), create('Never')]);
    other.exec('ROLLBACK');
    for (const { status, body, headers } of [keyed, plain]) {
      expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'STORE_UNAVAILABLE', '1']);
      expect(body.details.mayHaveHappened ?? false).toBe(false);
    }
    expect(await titled('Never')).toEqual([]);
    expect((await create('Never again', { 'Idempotency-Key': 'never' })).status).toBe(201);
  });

  it('a create whose records could not be written reports that it may have happened, and its repetition finds it', async () => {
    lockOnceOnBoard();
    const failed = await create('Half', { 'Idempotency-Key': 'half' });
    expect(failed).toMatchObject({ status: 503, body: { details: { mayHaveHappened: true } } });
    expect(failed.body.error).toContain('repeat it with the same Idempotency-Key');
    const [made, ...more] = await titled('Half');
    expect([made, more]).toEqual([expect.anything(), []]);
    expect(await create('Half', { 'Idempotency-Key': 'half' })).toMatchObject({ status: expect.any(Number) });
    other.exec('ROLLBACK');
    const repeated = await eventually(async () => {
      const reply = await create('Half', { 'Idempotency-Key': 'half' });
      expect(reply.status).toBe(201);
      return reply;
    });
    expect(repeated.body.id).toBe(made?.id);
    expect(await titled('Half')).toHaveLength(1);
    await eventually(async () => expect(await entriesOf(made?.id ?? '')).toEqual([1, 1]));
  });

  it('what is recorded of a create without a key is written as soon as the store is free', async () => {
    lockOnceOnBoard();
    const failed = await create('Owed');
    expect(failed).toMatchObject({ status: 503, body: { details: { mayHaveHappened: true } } });
    other.exec('ROLLBACK');
    const [made] = await titled('Owed');
    await eventually(async () => expect(await entriesOf(made?.id ?? '')).toEqual([1, 1]));
  });
});
