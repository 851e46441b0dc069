import { readEnvironment } from '../../platform/config/env';
import { createLog } from '../../platform/log/log';
import { installRuntime } from '../../platform/temporal/runtime';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type RunningPlants, startPlants } from '../../services/plants/start';
import { type TestTemporal, testTemporal } from '../support/stack/temporal';
import { plantsWorkflowBundle } from '../support/stack/workflow-bundle';
import { invalidPlants } from './invalid-plants';
import { type Answer, type CallOptions, callPlants, type PlantsRequest } from './plants-client';
import { aReceiver, expectedSignature } from './receiver';

const log = createLog({ name: 'test', level: 'silent' });
const secret = 'a secret of the receivers';
const greatest = '9223372036854775807';

let temporal: TestTemporal;
let dir: TempDir;
let plants: RunningPlants | undefined;
let queue = '';

beforeAll(async () => {
  installRuntime(log);
  temporal = await testTemporal();
});
afterAll(() => temporal.close());
beforeEach(async () => {
  dir = await makeTempDir('plants');
});
afterEach(async () => {
  await plants?.close();
  plants = undefined;
  await dir.remove();
});

async function start(
  settings: Record<string, string> = {},
  giveUpAfterMs = 60_000,
  client = temporal.client,
): Promise<RunningPlants> {
  plants = await startPlants({
    env: readEnvironment({
      BOARD_AUTH_ENABLED: 'false',
      BOARD_DATA_DIR: dir.path,
      PLANTS_PORT: '0',
      PLANTS_TOKENS: 'ann:the-token-of-ann-0000000,ben:the-token-of-ben-0000000',
      ...settings,
    }),
    log,
    client,
    connection: temporal.nativeConnection,
    workflows: { workflowBundle: plantsWorkflowBundle },
    taskQueue: (queue = temporal.unique('plants')),
    delivery: { firstPauseMs: 50, longestPauseMs: 100, giveUpAfterMs },
  });
  return plants;
}

const call = (method: string, path: string, body?: PlantsRequest[2], options?: CallOptions): Promise<Answer> =>
  callPlants(plants!.url, [method, path, body], options);

const create = (id: string, name = 'Fern', token?: string) =>
  call('POST', '/plants', `{"id":${id},"name":"${name}","tag":"green"}`, token === undefined ? {} : { token });

test('a plant is created under its number, listed and deleted', async () => {
  await start();
  expect(await create('2')).toMatchObject({ status: 200, body: { id: 2, name: 'Fern', tag: 'green' } });
  expect(await call('POST', '/plants', '{"id":-1,"name":"Moss"}')).toMatchObject({ status: 200 });
  expect((await call('GET', '/plants')).body).toEqual([
    { id: -1, name: 'Moss' },
    { id: 2, name: 'Fern', tag: 'green' },
  ]);
  const first = await call('GET', '/plants?limit=1');
  expect(first.body).toHaveLength(1);
  const cursor = first.headers.get('x-next-cursor');
  expect(first.headers.get('link')).toBe(`</plants?limit=1&cursor=${cursor}>; rel="next"`);
  const second = await call('GET', `/plants?limit=1&cursor=${cursor}`);
  expect(second.body).toEqual([{ id: 2, name: 'Fern', tag: 'green' }]);
  expect(second.headers.get('link')).toBeNull();
  expect(await call('GET', '/plants?cursor=x')).toMatchObject({ status: 400 });
  expect(await call('DELETE', '/plants/2')).toMatchObject({ status: 204, text: '' });
  expect(await call('DELETE', '/plants/2')).toMatchObject({ status: 400 });
});

test('what is not served is refused: other fields, and other parameters', async () => {
  await start();
  for (const [method, path, body, message] of [
    ['POST', '/plants', '{"id":1,"name":"Fern","colour":"green"}', 'colour: unknown field'],
    ['POST', '/plants?dry=1', '{"id":1,"name":"Fern"}', 'dry: unknown parameter'],
    ['GET', '/plants?limt=1', undefined, 'limt: unknown parameter'],
    ['GET', '/plant/webhook/deliveries?plant=1', undefined, 'plant: unknown parameter'],
  ] as const) {
    expect(await call(method, path, body)).toMatchObject({ status: 400, body: { error: 400, message } });
  }
  expect((await call('GET', '/plants')).body).toEqual([]);
});

test('numbers of 64 bits keep every digit, both ways', async () => {
  await start();
  for (const id of [greatest, '-9223372036854775808', '9007199254740993']) {
    expect((await create(id)).text).toMatch(new RegExp(`"id":${id}[,}]`));
  }
  const listed = (await call('GET', '/plants')).text;
  for (const id of [greatest, '-9223372036854775808', '9007199254740993']) {
    expect(listed).toMatch(new RegExp(`"id":${id}[,}]`));
  }
  expect(await call('DELETE', `/plants/${greatest}`)).toMatchObject({ status: 204 });
});

test('each user has plants of their own', async () => {
  await start();
  await create('1', 'Ann’s');
  expect(await create('1', 'Ben’s', 'the-token-of-ben-0000000')).toMatchObject({ status: 200 });
  expect((await call('GET', '/plants')).body).toMatchObject([{ name: 'Ann’s' }]);
  expect((await call('GET', '/plants', undefined, { token: 'the-token-of-ben-0000000' })).body).toMatchObject([
    { name: 'Ben’s' },
  ]);
  await call('DELETE', '/plants/1');
  expect((await call('GET', '/plants', undefined, { token: 'the-token-of-ben-0000000' })).body).toHaveLength(1);
});

describe('a creation under an Idempotency-Key', () => {
  const keyed = (key: string, id = '7', token?: string) =>
    call('POST', '/plants', `{"id":${id},"name":"Fern"}`, {
      headers: { 'idempotency-key': key },
      ...(token === undefined ? {} : { token }),
    });

  test('is done once, and answered the same when it is repeated', async () => {
    const receiver = await aReceiver(() => 200);
    try {
      await start({ PLANTS_WEBHOOK_URLS: receiver.url, PLANTS_WEBHOOK_ALLOW_PRIVATE: 'true' });
      const first = await keyed('key-1', greatest);
      expect(first).toMatchObject({ status: 200 });
      expect(first.headers.get('idempotency-replayed')).toBeNull();
      const again = await keyed('key-1', greatest);
      expect(again).toMatchObject({ status: 200, text: first.text });
      expect(again.text).toContain(greatest);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      await call('DELETE', `/plants/${greatest}`);
      expect(await keyed('key-1', greatest)).toMatchObject({ status: 200 });
      expect((await call('GET', '/plants')).body).toEqual([]);
      await eventually(() => expect(receiver.received).toHaveLength(1));
    } finally {
      await plants?.close();
      plants = undefined;
      await receiver.close();
    }
  });

  test('is refused for another plant, and free for other users', async () => {
    await start();
    expect(await keyed('key-1')).toMatchObject({ status: 200 });
    expect(await keyed('key-1', '8')).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/another of your requests/) },
    });
    expect(await keyed('key-1', '8', 'the-token-of-ben-0000000')).toMatchObject({ status: 200 });
    expect(await keyed('key with spaces')).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^Idempotency-Key must be/) },
    });
    const twice = { 'idempotency-key': 'a', 'x-idempotency-key': 'b' };
    expect(await call('POST', '/plants', '{"id":9,"name":"Fern"}', { headers: twice })).toMatchObject({ status: 400 });
    expect((await call('GET', '/plants')).body).toHaveLength(1);
  });

  test('leaves its key free when it is refused before anything is stored', async () => {
    await start();
    await create('7');
    expect(await keyed('key-1')).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/already exists/) },
    });
    await call('DELETE', '/plants/7');
    expect(await keyed('key-1')).toMatchObject({ status: 200 });
  });

  test('finds what a first try has stored whose answer was lost', async () => {
    let isLost = true;
    const { client } = temporal;
    const losing = new Proxy(client, {
      get: (target, name) =>
        name === 'withDeadline'
          ? async <T>(deadline: number, work: () => Promise<T>) => {
              const response = await target.withDeadline(deadline, work);
              if (isLost) {
                throw new Error('The connection was lost.');
              }
              return response;
            }
          : (Reflect.get(target, name) as unknown),
    });
    await start({}, 60_000, losing);
    expect(await keyed('key-1')).toMatchObject({ status: 503 });
    isLost = false;
    expect((await call('GET', '/plants')).body).toHaveLength(1);
    expect(await keyed('key-1')).toMatchObject({ status: 200, body: { id: 7, name: 'Fern' } });
    // Its workflow has ended: a plant that was deleted meanwhile is not made again.
    isLost = true;
    expect(await keyed('key-2', '8')).toMatchObject({ status: 503 });
    isLost = false;
    await call('DELETE', '/plants/8');
    expect(await keyed('key-2', '8')).toMatchObject({ status: 200 });
    expect((await call('GET', '/plants')).body).toHaveLength(1);
  });
});

test('failed authentications are limited by address, valid tokens are not', async () => {
  await start({ RATE_LIMIT_AUTH_FAILURES: '2' });
  expect(await call('GET', '/plants', undefined, { token: 'wrong' })).toMatchObject({ status: 401 });
  expect(await call('GET', '/nowhere', undefined, { token: 'wrong' })).toMatchObject({ status: 401 });
  const refused = await fetch(`${plants!.url}/plants`);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toEqual({ error: 429, message: expect.any(String) });
  expect(refused.headers.get('X-RateLimit-Limit')).toBe('2');
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(await call('GET', '/plants')).toMatchObject({ status: 200 });
  expect((await fetch(`${plants!.url}/health`)).status).toBe(200);
});

describe('what a client gets wrong', () => {
  beforeEach(() => start());

  test.each(['', 'wrong', 'the-token-of-ann-000000', 'the-token-of-ann-0000000x'])(
    'a call with the token "%s" is refused',
    async (token) => {
      expect(await call('GET', '/plants', undefined, { token })).toMatchObject({ status: 401 });
    },
  );

  test.each(invalidPlants)('a plant with %s is a 400', async (_what, body) => {
    expect(await call('POST', '/plants', body)).toMatchObject({ status: 400 });
    expect((await call('GET', '/plants')).body).toEqual([]);
  });

  test('a plant whose name is not UTF-8 is a 400', async () => {
    const body = Buffer.from('{"id":1,"name":"caf\u00e9"}', 'latin1');
    expect(await call('POST', '/plants', body)).toMatchObject({ status: 400 });
    expect(await call('POST', '/plants', '{"id":1,"name":"caf\u00e9"}')).toMatchObject({ status: 200 });
    expect((await call('GET', '/plants')).body).toEqual([{ id: 1, name: 'caf\u00e9' }]);
  });

  test.each(['0', '-1', 'x', '1.5', '99999999999', ''])('the limit "%s" is a 400', async (limit) => {
    expect(await call('GET', `/plants?limit=${limit}`)).toMatchObject({ status: 400 });
  });

  test.each(['x', '1.5', '9223372036854775808', '%20'])('deleting "%s" is a 400', async (id) => {
    expect(await call('DELETE', `/plants/${id}`)).toMatchObject({ status: 400 });
  });

  test('a number that is taken is a 400 that reports it, also for ten at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => create('7', `Fern ${index}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body.message).toContain('7');
  });

  test('another path is a 404, another method a 405 that names those of the path', async () => {
    expect(await call('GET', '/trees')).toMatchObject({ status: 404 });
    for (const [method, path, allowed] of [
      ['PUT', '/plants', 'GET, HEAD, POST'],
      ['GET', '/plants/1', 'DELETE'],
    ] as const) {
      const { status, headers } = await call(method, path);
      expect([status, headers.get('Allow')]).toEqual([405, allowed]);
    }
  });
});

test('the document describes the three operations and the webhook', async () => {
  await start();
  const served = (await (await fetch(`${plants!.url}/openapi.json`)).json()) as Answer['body'];
  expect(served).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0', license: { name: 'MIT' } } });
  expect(Object.keys(served.paths)).toEqual(['/plants', '/plants/{id}']);
  expect(served.webhooks['/plant/webhook'].post.requestBody.content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/NewPlant',
  });
  expect(served.components.schemas).toMatchObject({
    Plant: { required: ['name'], properties: { name: { type: 'string' }, tag: { type: 'string' } } },
    NewPlant: {
      allOf: [{ $ref: '#/components/schemas/Plant' }, { properties: { id: { type: 'integer', format: 'int64' } } }],
    },
    Error: { required: ['error', 'message'] },
  });
});

describe('the webhook', () => {
  test('reports every receiver of a new plant, signed, until it is accepted, and keeps a log', async () => {
    const steady = await aReceiver();
    const moody = await aReceiver((nth) => (nth < 3 ? 503 : 200));
    await start({
      PLANTS_WEBHOOK_URLS: `${steady.url},${moody.url}`,
      PLANTS_WEBHOOK_SECRET: secret,
      PLANTS_WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    await create(greatest);
    await create(greatest);
    await eventually(async () => {
      const { deliveries } = (await call('GET', '/plant/webhook/deliveries')).body;
      expect(deliveries.map(({ state }: { state: string }) => state)).toEqual(['delivered', 'delivered']);
    });
    expect(steady.received.map(({ body }) => body)).toEqual([`{"id":${greatest},"name":"Fern","tag":"green"}`]);
    expect(moody.received).toHaveLength(3);
    expect(new Set(moody.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const each of [...steady.received, ...moody.received]) {
      expect(each.headers['webhook-signature']).toBe(expectedSignature(secret, each));
    }
    const { deliveries } = (await call('GET', '/plant/webhook/deliveries')).body;
    expect(deliveries.map(({ attemptCount }: { attemptCount: number }) => attemptCount).sort()).toEqual([1, 3]);
    expect(JSON.stringify(deliveries)).not.toContain('127.0.0.1');
    expect(
      (await call('GET', '/plant/webhook/deliveries', undefined, { token: 'the-token-of-ben-0000000' })).body
        .deliveries,
    ).toEqual([]);
    await steady.close();
    await moody.close();
  });

  test('never calls an address of a private network unless that is allowed', async () => {
    const receiver = await aReceiver();
    await start({ PLANTS_WEBHOOK_URLS: `${receiver.url},http://localhost:1/x,http://169.254.169.254/meta` });
    await create('1');
    await eventually(async () => {
      const { deliveries } = (await call('GET', '/plant/webhook/deliveries')).body;
      expect(deliveries).toMatchObject([1, 2, 3].map(() => ({ state: 'failed', attemptCount: 1 })));
    });
    expect(receiver.received).toEqual([]);
    await receiver.close();
    const path = '/plant/webhook/deliveries';
    const all: string[] = (await call('GET', path)).body.deliveries.map(({ _id }: { _id: string }) => _id);
    const seen: string[] = [];
    for (let at: string | undefined = `${path}?limit=1`; at !== undefined;) {
      const page: Answer = await call('GET', at);
      expect(page.body.deliveries).toHaveLength(1);
      seen.push(page.body.deliveries[0]._id);
      expect(page.body.nextCursor ?? null).toBe(page.headers.get('x-next-cursor'));
      at = /<(.*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(all);
    for (const refused of ['limit=0', 'limit=x', 'cursor=x', 'cursor=']) {
      expect(await call('GET', `${path}?${refused}`)).toMatchObject({ status: 400 });
    }
  });

  test('gives a receiver up that is never there', async () => {
    await start({ PLANTS_WEBHOOK_URLS: 'http://127.0.0.1:1/gone', PLANTS_WEBHOOK_ALLOW_PRIVATE: 'true' }, 1_000);
    await create('1');
    await eventually(async () => {
      const { deliveries } = (await call('GET', '/plant/webhook/deliveries')).body;
      expect(deliveries).toMatchObject([{ state: 'failed', attempts: expect.arrayContaining([expect.anything()]) }]);
    });
  });
});

test('a plant that only Temporal was asked for is neither stored nor announced', async () => {
  const receiver = await aReceiver(() => 200);
  try {
    await start({
      PLANTS_WEBHOOK_URLS: receiver.url,
      PLANTS_WEBHOOK_SECRET: secret,
      PLANTS_WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    const delivery = { firstPauseMs: 50, longestPauseMs: 100, giveUpAfterMs: 1_000 };
    const forged = { user: 'ann', id: '7', name: 'Forged', delivery };
    const outcome = temporal.client.workflow.execute('plantCreation', {
      workflowId: 'plant/forged',
      taskQueue: queue,
      args: [forged],
    });
    await expect(outcome).rejects.toMatchObject({ cause: { cause: { type: 'MESSAGE_UNPROVEN' } } });
    expect((await call('GET', '/plants')).body).toEqual([]);
    expect(receiver.received).toEqual([]);

    // A reader of a plant's history may start it again: its receivers were notified.
    await call('POST', '/plants', '{"id": 8, "name": "Told"}');
    const { _id, id } = await eventually(async () => {
      const [delivery] = (await call('GET', '/plant/webhook/deliveries')).body.deliveries;
      expect(delivery).toMatchObject({ state: 'delivered' });
      return delivery;
    });
    const workflowId = /^plant\/[^/]+/.exec(_id ?? id)?.[0] ?? '';
    const handle = temporal.client.workflow.getHandle(workflowId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const args = [JSON.parse(Buffer.from(payload?.data ?? []).toString())];
    const repeated = temporal.client.workflow.execute('plantCreation', { workflowId, taskQueue: queue, args });
    expect(await repeated).toEqual({ created: true });
    expect(receiver.received).toHaveLength(1);
  } finally {
    await receiver.close();
  }
});
