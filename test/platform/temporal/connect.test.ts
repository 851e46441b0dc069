import { Writable } from 'node:stream';
import { Connection } from '@temporalio/client';
import { createLog } from '../../../platform/log/log';
import { claimPort } from '../../../platform/processes/parts/claim-port';
import { connectClient, connectWorker } from '../../../platform/temporal/connect';
import { findTemporalBinary } from '../../../platform/temporal/embedded/binary';
import { startDevServer } from '../../../platform/temporal/embedded/dev-server';
import { ensureSearchAttributes, SearchAttributeTypeError } from '../../../platform/temporal/ensure-search-attributes';
import { searchAttributeNames, searchAttributes as ours } from '../../../platform/temporal/search-attributes';
import { TemporalUnavailableError } from '../../../platform/temporal/unavailable-error';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { type TestTemporal, testTemporal } from '../../support/stack/temporal';

const namespace = 'default';
const silent = createLog({ name: 'test', level: 'silent' });

/** A log that records its lines. */
function recordingLog() {
  const lines: { level: string; msg: string; failures?: number }[] = [];
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  return { lines, log: createLog({ name: 'test', level: 'info' }, destination) };
}

describe('connecting', () => {
  test('waits for a server that starts later, and reports it', async () => {
    const directory = await makeTempDir('connect');
    const port = await claimPort(0, 'test');
    const { lines, log } = recordingLog();
    const address = `127.0.0.1:${port}`;
    const both = Promise.all([
      connectClient({ address, namespace, log, withinMs: 120_000 }),
      connectWorker({ address, namespace, log: silent, withinMs: 120_000 }),
    ]);
    await eventually(() => expect(lines.filter(({ level }) => level === 'warn').length).toBeGreaterThan(1));
    const binary = await findTemporalBinary();
    const server = await startDevServer({ binary, dbFile: `${directory.path}/t.db`, port, namespace, log: silent });
    const [client, native] = await both;
    expect((await client.workflow.count()).count).toBe(0);
    expect(lines.at(-1)?.msg).toBe('connected to temporal');
    expect(lines.slice(0, 2).map(({ failures }) => failures)).toEqual([1, 2]);
    await client.connection.close();
    await native.close();
    await server.stop();
    await directory.remove();
  });

  test('gives up when its time is over or it is cancelled', async () => {
    const address = `127.0.0.1:${await claimPort(0, 'test')}`;
    await expect(connectClient({ address, namespace, log: silent, withinMs: 300 })).rejects.toThrow(
      TemporalUnavailableError,
    );
    const giveUp = new AbortController();
    const waiting = connectWorker({ address, namespace, log: silent, signal: giveUp.signal });
    giveUp.abort(new Error('asked to end'));
    await expect(waiting).rejects.toThrow('asked to end');
  });
});

describe('search attributes of an external server', () => {
  let temporal: TestTemporal;
  let connection: Connection;

  const namespaceOfItsOwn = async (): Promise<string> => {
    const name = temporal.unique('ns');
    await connection.workflowService.registerNamespace({
      namespace: name,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    await eventually(() => connection.workflowService.describeNamespace({ namespace: name }));
    return name;
  };

  beforeAll(async () => {
    temporal = await testTemporal();
    connection = await Connection.connect({ address: temporal.address });
  });

  afterAll(async () => {
    await connection.close();
    await temporal.close();
  });

  test('are registered once, and workflows can use them at once', async () => {
    const name = await namespaceOfItsOwn();
    const { lines, log } = recordingLog();
    await Promise.all([1, 2].map(() => ensureSearchAttributes(connection, name, { log })));
    await ensureSearchAttributes(connection, name, { log });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: name });
    expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining([...searchAttributeNames]));
    expect(lines.every(({ level }) => level === 'info')).toBe(true);
    await connection.workflowService.countWorkflowExecutions({
      namespace: name,
      query: `${ours.runState.name} = "running"`,
    });
  });

  test('of another type are an error that names them', async () => {
    const name = await namespaceOfItsOwn();
    const textType = 1;
    const searchAttributes = Object.fromEntries([['BoardAgent', textType]]);
    await connection.operatorService.addSearchAttributes({ namespace: name, searchAttributes });
    const failing = ensureSearchAttributes(connection, name, { log: silent });
    await expect(failing).rejects.toThrow(SearchAttributeTypeError);
    await expect(failing).rejects.toThrow(/BoardAgent/);
  });
});
