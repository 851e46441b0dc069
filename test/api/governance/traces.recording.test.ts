import { eventually } from '../../../platform/testing/eventually';
import { type ApiUnderTest, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
const titles = async (): Promise<string[]> =>
  (await board.call('GET', '/api/tasks')).body.tasks.map(({ title }: { title: string }) => title);
const create = (title: string) => board.call('POST', '/api/tasks', { body: { title } });

/** A promise that is resolved from outside. */
function openGate() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve: () => resolve() };
}

/** Stores traces of decisions only once `stored` resolves, or not at all when it rejects. */
function storeTracesAfter(stored: Promise<void>) {
  const { traces } = board.api.context;
  const begin = traces.begin.bind(traces);
  return jest.spyOn(traces, 'begin').mockImplementation((input) => {
    const recorded = stored.then(() => begin(input).recorded);
    recorded.catch(() => undefined);
    return { id: 'trace_000000000000000000000001', recorded };
  });
}

describe('the trace of a decision', () => {
  beforeAll(async () => {
    board = await startTestApi();
    const rules = [{ effect: 'warn' }];
    expect((await board.call('POST', '/api/policies', { body: { name: 'A rule', rules } })).status).toBe(201);
  });
  afterAll(() => board.close());
  afterEach(() => jest.restoreAllMocks());

  it('is stored beside the action, and before that is acknowledged', async () => {
    const gate = openGate();
    storeTracesAfter(gate.promise);
    let isAnswered = false;
    const answer = create('beside').finally(() => {
      isAnswered = true;
    });
    await eventually(async () => expect(await titles()).toContain('beside'));
    expect(isAnswered).toBe(false);
    gate.resolve();
    expect((await answer).status).toBe(201);
  });

  it('fails an action whose decision cannot be recorded', async () => {
    storeTracesAfter(Promise.reject(new Error('no space')));
    expect((await create('unrecorded')).status).toBe(500);
  });

  it('is stored before a refusal is answered', async () => {
    const { body: policy } = await board.call('POST', '/api/policies', {
      body: { name: 'Nothing', rules: [{ action: 'create-task', effect: 'deny' }] },
    });
    const gate = openGate();
    const stored = storeTracesAfter(gate.promise);
    let isAnswered = false;
    const answer = create('refused').finally(() => {
      isAnswered = true;
    });
    await eventually(() => expect(stored).toHaveBeenCalled());
    // Another request is served meanwhile.
    expect(await titles()).not.toContain('refused');
    expect(isAnswered).toBe(false);
    gate.resolve();
    expect((await answer).status).toBe(403);
    await board.call('DELETE', `/api/policies/${policy.id}`);
  });
});
