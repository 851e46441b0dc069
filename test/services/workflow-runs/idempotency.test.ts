import { randomUUID } from 'node:crypto';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from './service-under-test';
import { openStoredRuns, type StoredRuns } from './stored-runs';

let service: WorkflowRunsUnderTest;
let stored: StoredRuns;
beforeAll(async () => {
  service = await startServiceUnderTest();
  stored = await openStoredRuns(service);
  await service.call('PUT', '/verification/criteria/clean', { name: 'Clean', question: 'Is the code clean?' });
  const lint = { name: 'Lint', description: 'Finds mistakes.', type: 'automated', criterion: 'clean' };
  await service.call('PUT', '/verification/controls/lint', lint);
});
afterAll(async () => {
  await stored.database.close();
  await service.close();
});

/** Sends as callers should: again under the same key where it is not known whether the request was accepted. */
const send = async (path: string, body: object, key: string): Promise<[number, string | null, unknown]> => {
  const answer = await service.open('POST', path, { body, headers: { 'Idempotency-Key': key } });
  if (answer.status === 503) {
    await answer.body?.cancel();
    return send(path, body, key);
  }
  return [answer.status, answer.headers.get('Idempotency-Replayed'), await answer.json()];
};

/** The state after a process died between its work and its response. */
async function loseTheAnswers(): Promise<void> {
  const keys = await stored.database.collection<{ _id: string; heldUntil: string; answer?: unknown }>({
    name: 'idempotency-keys',
  });
  await keys.updateMany({ _id: { $gt: '' } }, { $set: { heldUntil: '' }, $unset: { answer: '' } });
}

const key = (): string => randomUUID();
const graph = 'digraph Wait { start -> exit }';
const signoff = { control: 'lint', repository: 'shop', commit_sha: 'a'.repeat(40), status: 'pass' };

describe.each<[path: string, body: object, other: object]>([
  ['/insights/queries', { name: 'Once', sql: 'SELECT 1' }, { name: 'Other', sql: 'SELECT 1' }],
  ['/runs', { dot_source: graph }, { dot_source: `${graph} ` }],
  ['/sessions', { content: 'Hi' }, { content: 'Hello' }],
  ['/verification/signoffs', signoff, { ...signoff, status: 'fail' }],
])('POST %s', (path, body, other) => {
  it('makes one thing under a key, also when its answer was lost', async () => {
    const mine = key();
    const [status, replayed, made] = await send(path, body, mine);
    expect([status, replayed, made]).toEqual([201, null, expect.objectContaining({ id: expect.any(String) })]);
    expect(await send(path, body, mine)).toEqual([201, 'true', made]);
    await loseTheAnswers();
    const { id } = made as { id: string };
    expect(await send(path, body, mine)).toMatchObject([201, null, { id }]);
    expect((await send(path, other, mine))[0]).toBe(409);
    const [, , another] = await send(path, body, key());
    expect((another as { id: string }).id).not.toBe(id);
  });
});

it('takes a message into its session once under a key, also when its answer was lost', async () => {
  const [, , { id }] = (await send('/sessions', { content: 'Hi' }, key())) as [number, null, { id: string }];
  const mine = key();
  const message = { content: 'Say it once' };
  for (let tries = 0; tries < 3; tries += 1) {
    expect((await send(`/sessions/${id}/messages`, message, mine))[0]).toBe(202);
    await loseTheAnswers();
  }
  const { turns } = (await service.call('GET', `/sessions/${id}`)).body as {
    turns: { kind: string; content: string }[];
  };
  expect(turns.filter(({ kind }) => kind === 'user').map(({ content }) => content)).toEqual(['Hi', 'Say it once']);
});
