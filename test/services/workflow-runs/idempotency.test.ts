import { startServiceUnderTest, type WorkflowRunsUnderTest } from './service-under-test';
import { openStoredRuns, type StoredRuns } from './stored-runs';

let service: WorkflowRunsUnderTest;
let stored: StoredRuns;
beforeAll(async () => {
  service = await startServiceUnderTest();
  stored = await openStoredRuns(service);
});
afterAll(async () => {
  await stored.database.close();
  await service.close();
});

const send = async (path: string, body: object, key: string): Promise<[number, string | null, unknown]> => {
  const answer = await service.open('POST', path, { body, headers: { 'Idempotency-Key': key } });
  return [answer.status, answer.headers.get('Idempotency-Replayed'), await answer.json()];
};

/** What a process leaves that dies after its work and before its answer. */
async function loseTheAnswers(): Promise<void> {
  const keys = await stored.database.collection<{ _id: string; heldUntil: string; answer?: unknown }>({
    name: 'idempotency-keys',
  });
  await keys.updateMany({ _id: { $gt: '' } }, { $set: { heldUntil: '' }, $unset: { answer: '' } });
}

it.each([['/insights/queries', { name: 'Once', sql: 'SELECT 1' }]])(
  '%s makes one thing under a key, also when its answer was lost',
  async (path, body) => {
    const [status, replayed, made] = await send(path, body, 'key-1');
    expect([status, replayed]).toEqual([expect.any(Number), null]);
    expect(status).toBeLessThan(300);
    expect(await send(path, body, 'key-1')).toEqual([status, 'true', made]);
    await loseTheAnswers();
    const [, , again] = await send(path, body, 'key-1');
    expect((again as { id: string }).id).toBe((made as { id: string }).id);
    expect((await send(path, { ...body, name: 'Other' }, 'key-1'))[0]).toBeGreaterThanOrEqual(400);
    const [, , another] = await send(path, body, 'key-2');
    expect((another as { id: string }).id).not.toBe((made as { id: string }).id);
  },
);
