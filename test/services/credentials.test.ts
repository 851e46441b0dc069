import { generateKeyPairSync } from 'node:crypto';
import { createAuthFailures } from '../../platform/http/auth/auth-failures';
import type { OpenApiDocument } from '../../platform/http/routing/openapi';
import { listen } from '../../platform/http/server/server';
import { createLog } from '../../platform/log/log';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { createPlantApp } from '../../services/plants/app';
import { plantsOpenApi } from '../../services/plants/openapi';
import { createPlantStore } from '../../services/plants/store';
import { openDatabase } from '../../stores/port/open';
import { createIdempotencyKeyStore } from '../../stores/system/idempotency-key-store';
import { type Operation, operationsOf, requestOf } from '../api/permissions/operations';
import { type ServerUnderTest, serverUnderTest } from './bitmap/server';
import { startServiceUnderTest, tokenOf, type WorkflowRunsUnderTest } from './workflow-runs/service-under-test';

const log = createLog({ name: 'test', level: 'silent' });

/** Sends a request and returns its status; what follows, which may be an endless stream, is not read. */
async function statusOf(url: string, method: string, headers: Record<string, string>, body?: string): Promise<number> {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  await response.body?.cancel();
  return response.status;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('the workflow-run service', () => {
  let service: WorkflowRunsUnderTest;
  let document: OpenApiDocument;
  let operations: Operation[];
  beforeAll(async () => {
    service = await startServiceUnderTest({ RATE_LIMIT_AUTH_FAILURES: '0' });
    document = (await service.call('GET', '/openapi.json', undefined, null)).body as OpenApiDocument;
    operations = operationsOf(document);
  });
  afterAll(() => service.close());

  const call = (operation: Operation, headers: Record<string, string>) => {
    const request = requestOf(operation, document, {});
    return statusOf(
      `${service.service.url}${request.path}`,
      request.method,
      { ...request.headers, ...headers },
      request.body,
    );
  };
  const guarded = () => operations.filter((operation) => operation.permission !== undefined);
  const otherKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const past = Math.floor(Date.now() / 1000) - 60;

  it('is open for finding it, for webhooks, whose URL is their credential, and for nothing else', () => {
    const open = operations.filter((operation) => operation.permission === undefined).map(({ name }) => name);
    expect(open.sort()).toEqual(['GET /', 'GET /health', 'GET /openapi.json', 'POST /webhooks/{token}']);
    expect(guarded().length).toBeGreaterThanOrEqual(40);
  });

  it.each([
    ['no token', {}, 401],
    ['no JWT', bearer('nothing'), 401],
    ['a token that has expired', bearer(tokenOf('ann', { exp: past })), 401],
    ['a token of another issuer', bearer(tokenOf('ann', { iss: 'https://attacker.example' })), 401],
    ['a token of another key', bearer(tokenOf('ann', {}, otherKey)), 401],
    ['a token of a user who is not listed', bearer(tokenOf('eve')), 403],
  ])('refuses %s on every operation', async (_case, headers: Record<string, string>, expected) => {
    const answers = await Promise.all(guarded().map(async (one) => [one.name, await call(one, headers)]));
    expect(answers.filter(([, status]) => status !== expected)).toEqual([]);
  });

  it('answers the token of a listed user on every operation', async () => {
    const answers: [string, number][] = [];
    for (const one of guarded()) {
      answers.push([one.name, await call(one, bearer(tokenOf('ann')))]);
    }
    expect(answers.filter(([, status]) => status === 401 || status === 403 || status >= 500)).toEqual([]);
  });
});

describe('the plant store', () => {
  it('answers every operation to its users only', async () => {
    const directory = await makeTempDir('plants');
    const database = await openDatabase({ dataDir: directory.path, log });
    const store = await createPlantStore(database);
    const users = [{ user: 'ann', token: 'token-of-ann-token-of-ann' }];
    const created: unknown[] = [];
    const authFailures = createAuthFailures({ limit: 0, report: () => undefined });
    const create = async (_user: string, plant: unknown) => created.push(plant) > 0;
    const idempotencyKeys = await createIdempotencyKeyStore(database);
    const app = createPlantApp({ store, users, create, idempotencyKeys, log, authFailures });
    const server = await listen(app.callback(), { host: '127.0.0.1', port: 0, setting: 'PLANTS_PORT' });
    try {
      const { paths } = plantsOpenApi() as { paths: Record<string, object> };
      const operations = [
        ...Object.entries(paths).flatMap(([path, methods]) =>
          Object.keys(methods).map((method): [string, string] => [method.toUpperCase(), path.replace('{id}', '1')]),
        ),
        ['GET', '/plant/webhook/deliveries'] as const,
        ['GET', '/nothing/is/here'] as const,
      ];
      const statuses = (headers: Record<string, string>) =>
        Promise.all(
          operations.map(([method, path]) =>
            statusOf(
              `${server.url}${path}`,
              method,
              { 'Content-Type': 'application/json', ...headers },
              method === 'POST' ? '{"id":1,"name":"Fern"}' : undefined,
            ),
          ),
        );
      expect(operations.length).toBeGreaterThanOrEqual(5);
      for (const headers of [{}, bearer('nothing'), { Authorization: 'Basic YW5uOg==' }]) {
        expect(new Set(await statuses(headers))).toEqual(new Set([401]));
      }
      expect(created).toEqual([]);
      const answered = await statuses(bearer('token-of-ann-token-of-ann'));
      expect(answered.filter((status) => [401, 403].includes(status) || status >= 500)).toEqual([]);
      expect(created).toHaveLength(1);
    } finally {
      await server.close();
      await database.close();
      await directory.remove();
    }
  });
});

describe('the bitmap index with a token', () => {
  const token = 'token-of-the-bitmap-index';
  let server: ServerUnderTest;
  beforeAll(async () => {
    server = await serverUnderTest({ token });
  });
  afterAll(() => server.remove());

  /** One of every kind of route, both revisions, and what is no route. */
  const routes: [string, string][] = [
    ['GET', '/'],
    ['GET', '/version'],
    ['GET', '/status'],
    ['GET', '/info'],
    ['GET', '/metrics'],
    ['GET', '/schema'],
    ['GET', '/index'],
    ['GET', '/index/i'],
    ['GET', '/export?index=i&field=f&shard=0'],
    ['GET', '/internal/nodes'],
    ['GET', '/internal/shards/max'],
    ['GET', '/internal/fragment/nodes?index=i&shard=0'],
    ['GET', '/fragment/nodes?index=i&slice=0'],
    ['GET', '/slices/max'],
    ['GET', '/index/i/frame/f/fields'],
    ['GET', '/index/i/frame/f/views'],
    ['GET', '/nothing/is/here'],
    ['POST', '/schema'],
    ['POST', '/index/i'],
    ['POST', '/index/i/field/f'],
    ['POST', '/index/i/query'],
    ['POST', '/index/i/field/f/import'],
    ['POST', '/index/i/field/f/import-roaring/0'],
    ['POST', '/index/i/frame/f'],
    ['POST', '/index/i/frame/f/field/x'],
    ['POST', '/import'],
    ['POST', '/import-value'],
    ['POST', '/internal/translate/keys'],
    ['POST', '/recalculate-caches'],
    ['DELETE', '/index/i/field/f'],
    ['DELETE', '/index/i/frame/f'],
    ['DELETE', '/index/i'],
  ];

  it.each([
    ['none', {}],
    ['another', bearer('nothing')],
    ['it in another scheme', { Authorization: `Basic ${token}` }],
  ])('refuses callers with %s, but for probes', async (_case, headers: Record<string, string>) => {
    const answers = await Promise.all(
      routes.map(async ([method, path]) => [
        `${method} ${path}`,
        await statusOf(server.url + path, method, headers, method === 'POST' ? '' : undefined),
      ]),
    );
    expect(answers.filter(([, status]) => status !== 401)).toEqual([]);
    expect(await statusOf(`${server.url}/health`, 'GET', headers)).toBe(200);
  });

  it('answers callers with it', async () => {
    for (const [method, path] of routes) {
      const status = await statusOf(server.url + path, method, bearer(token), method === 'POST' ? '' : undefined);
      expect([method, path, status]).toEqual([method, path, expect.any(Number)]);
      expect([401, 403]).not.toContain(status);
      expect(status).toBeLessThan(500);
    }
  });
});
