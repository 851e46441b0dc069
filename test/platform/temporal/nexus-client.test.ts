import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from '@temporalio/worker';
import { operation, service, serviceHandler } from 'nexus-rpc';
import { createLog } from '../../../platform/log/log';
import {
  callNexus,
  NexusFailedError,
  NexusNotServedError,
  type NexusRequest,
} from '../../../platform/temporal/nexus-client';
import { installRuntime } from '../../../platform/temporal/runtime';
import { type TestTemporal, testTemporal } from '../../support/stack/temporal';

const echo = service('echo', { repeat: operation<{ text: string }, string>(), fail: operation<object, never>() });

let temporal: TestTemporal;
let worker: Worker;
let running: Promise<void>;
let taskQueue: string;

beforeAll(async () => {
  installRuntime(createLog({ name: 'test', level: 'silent' }));
  temporal = await testTemporal();
  taskQueue = temporal.unique('asked/with a slash');
  worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue,
    nexusServices: [
      serviceHandler(echo, {
        repeat: (_context, { text }) => Promise.resolve(`${text} ${text}`),
        fail: () => Promise.reject(new Error('it broke')),
      }),
    ],
  });
  running = worker.run();
});

afterAll(async () => {
  worker.shutdown();
  await running;
  await temporal.close();
});

const ask = (question: Partial<NexusRequest>, httpAddress = temporal.httpAddress) =>
  callNexus(
    { httpAddress, namespace: temporal.namespace },
    { taskQueue, service: 'echo', operation: 'repeat', input: { text: 'ho' }, withinMs: 10_000, ...question },
  );

describe('the Nexus client', () => {
  test('any worker that polls the queue responds', async () => {
    await expect(ask({})).resolves.toBe('ho ho');
  });

  test('an unknown operation falls back to a workflow, and so does every one where nothing listens', async () => {
    await expect(ask({ operation: 'sing' })).rejects.toThrow(NexusNotServedError);
    await expect(ask({ service: 'choir' })).rejects.toThrow(NexusNotServedError);
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await expect(ask({}, `127.0.0.1:${port}`)).rejects.toThrow(NexusNotServedError);
  });

  test('an operation that no worker accepts in time is unanswered', async () => {
    const lonely = ask({ taskQueue: temporal.unique('nobody'), withinMs: 500 });
    await expect(lonely).rejects.toMatchObject({ name: 'NexusFailedError', unanswered: true });
  });

  test('a server that takes a question and never answers is given up', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    try {
      const hanging = ask({ withinMs: 50 }, `127.0.0.1:${port}`);
      await expect(hanging).rejects.toMatchObject({ name: 'NexusFailedError', unanswered: true });
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  test('a failing handler reports its error', async () => {
    const failing = ask({ operation: 'fail' });
    await expect(failing).rejects.toThrow(NexusFailedError);
    await expect(failing).rejects.toMatchObject({ status: 500, unanswered: false });
  });
});
