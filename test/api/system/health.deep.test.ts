import { createApp } from '../../../api/app';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { listen } from '../../../platform/http/server/server';
import { eventually } from '../../../platform/testing/eventually';
import { anAgent } from '../../support/factories/agent';
import { aContractInput } from '../../support/factories/contract';
import { TestWatcher } from '../../support/watcher';
import { adminKey, agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

const paths = ['/health/deep', '/api/health/deep', '/api/v1/health/deep'];

describe('deep health', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  it.each(paths)('%s is for administrators', async (path) => {
    const statuses = [null, readKey, agentKey].map(async (key) => (await board.call('GET', path, { key })).status);
    expect(await Promise.all(statuses)).toEqual([401, 403, 403]);
  });

  it.each(paths)('%s reads version, replica and every part', async (path) => {
    const { status, body } = await board.call('GET', path);
    expect([status, body]).toEqual([
      200,
      {
        status: 'warning',
        service: 'runboard',
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        nodeVersion: process.version,
        startedAt: expect.any(String),
        uptimeMs: expect.any(Number),
        timestamp: expect.any(String),
        webSocket: { connections: 0, limit: 1_000 },
        parts: {
          storage: expect.objectContaining({ status: 'ok', kind: board.api.context.database.kind }),
          memory: expect.objectContaining({ status: 'ok', usedBytes: expect.any(Number) }),
          disk: expect.objectContaining({ status: 'ok', freeMb: expect.any(Number), requiredMb: 100 }),
          git: expect.objectContaining({ status: 'ok' }),
          workers: expect.objectContaining({
            status: 'warning',
            reason: expect.stringContaining('no worker'),
            workers: 0,
          }),
          circuitBreakers: expect.objectContaining({ status: 'ok', open: 0, halfOpen: 0, pausedTrees: 0, items: [] }),
          queue: expect.objectContaining({ status: 'ok', depth: 0, oldestEnqueuedAt: null }),
        },
      },
    ]);
  });

  it('counts the connections of the WebSocket', async () => {
    const connections = async (): Promise<number> => (await board.call('GET', paths[0]!)).body.webSocket.connections;
    const watcher = await TestWatcher.open(board.url, { headers: { 'X-API-Key': adminKey } });
    await eventually(async () => expect(await connections()).toBe(1));
    watcher.close();
    await eventually(async () => expect(await connections()).toBe(0));
  });
});

describe('the parts that runs need', () => {
  it('are workers, circuit breakers and the queue', async () => {
    const board = await startTestApi();
    const { hosts, hostManifests, queue, trees } = board.api.context;
    const announce = (workerId: string, draining: boolean) =>
      hosts.announceWorker('host-a', {
        hostname: 'a.example',
        workerId,
        capacity: { runs: 1, processes: 1, memoryMb: 1 },
        queues: [],
        draining,
        reservedRuns: 0,
      });
    await announce('one', false);
    await announce('two', true);
    const circuits = { broken: 60_000, recovering: -60_000 };
    for (const [type, retryInMs] of Object.entries(circuits)) {
      const retryAt = new Date(Date.now() + retryInMs).toISOString();
      await hostManifests.put('host-a', anAgent({ type }), {
        manifest: aContractInput().runtime,
        fingerprint: 'f',
        circuit: { state: 'open', failures: 3, retryAt },
      });
    }
    for (const [id, enqueuedAt] of [
      ['attempt_later', '2026-02-01T00:00:00.000Z'],
      ['attempt_first', '2026-01-01T00:00:00.000Z'],
    ] as const) {
      await queue.enqueue({ ...sampleRequest(id), enqueuedAt, limitingKey: null, limitingPolicies: [] });
    }
    await trees.open(sampleRequest('root-paused'));
    const at = new Date().toISOString();
    await trees.pause('root-paused', [], { action: 'pause', actor: 'user:a', reason: 'test', at, keyHash: null });

    const { body } = await board.call('GET', '/health/deep');
    expect(body.parts).toMatchObject({
      workers: {
        status: 'ok',
        hosts: 1,
        workers: 2,
        draining: 1,
        items: [{ id: 'host-a', hostname: 'a.example', workers: 2, draining: 1 }],
      },
      circuitBreakers: {
        status: 'warning',
        reason: '1 agents on hosts cannot be started, 1 execution trees are paused',
        open: 1,
        halfOpen: 1,
        pausedTrees: 1,
      },
      queue: { depth: 2, oldestEnqueuedAt: '2026-01-01T00:00:00.000Z' },
    });
    expect(body.parts.circuitBreakers.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ hostId: 'host-a', agent: 'broken', state: 'open', failures: 3 }),
        expect.objectContaining({ hostId: 'host-a', agent: 'recovering', state: 'half-open' }),
      ]),
    );
    const { status, body: system } = await board.call('GET', '/api/v1/system/health', { key: readKey });
    expect([status, system]).toEqual([
      200,
      {
        status: 'warning',
        parts: {
          storage: 'ok',
          memory: 'ok',
          disk: 'ok',
          git: 'ok',
          workers: 'ok',
          circuitBreakers: 'warning',
          queue: 'ok',
        },
        timestamp: expect.any(String),
      },
    ]);
    await board.close();
  });
});

describe('health of a broken part', () => {
  it('is failed with its reason for administrators only, and a hanging check is made once', async () => {
    const board = await startTestApi();
    let made = 0;
    const checks = {
      storage: () => Promise.reject(new Error('mongodb://board:the-password@host is away')),
      disk: () => {
        made += 1;
        return new Promise<undefined>(() => undefined);
      },
    };
    const server = await listen(createApp({ ...board.api.context, checks }).app.callback(), {
      host: '127.0.0.1',
      port: 0,
    });
    const read = async (path: string) => {
      const response = await fetch(`${server.url}${path}`, { headers: { 'X-API-Key': adminKey } });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    // The second reading comes after the first one's time: the check still hangs from then.
    for (const path of ['/health/deep', '/health/deep']) {
      const { status, body } = await read(path);
      expect([status, body.status]).toEqual([503, 'degraded']);
      expect(body.parts).toMatchObject({
        storage: { status: 'failed', reason: 'mongodb://board:[REDACTED]@host is away' },
        disk: { status: 'failed', reason: 'no response within 2000 ms' },
        queue: { status: 'ok' },
      });
    }
    expect(made).toBe(1);
    const system = await read('/api/system/health');
    expect([system.status, system.body.parts]).toMatchObject([503, { storage: 'failed', disk: 'failed', queue: 'ok' }]);
    expect(JSON.stringify(system.body)).not.toContain('host');
    await server.close();
    await board.close();
  });
});
