import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { createLog } from '../../../platform/log/log';
import { claimPort, PortInUseError } from '../../../platform/processes/parts/claim-port';
import { findTemporalBinary } from '../../../platform/temporal/embedded/binary';
import { type DevServer, startDevServer } from '../../../platform/temporal/embedded/dev-server';
import { searchAttributes } from '../../../platform/temporal/search-attributes';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { sendRequest } from '../../support/http-request';

const log = createLog({ name: 'test', level: 'silent' });
const namespace = 'default';

describe('the development server', () => {
  let directory: TempDir;
  let binary: string;
  const servers: DevServer[] = [];

  const start = async (options: { port?: number; ui?: boolean } = {}): Promise<DevServer> => {
    const server = await startDevServer({
      ...options,
      binary,
      dbFile: `${directory.path}/temporal.db`,
      namespace,
      log,
    });
    servers.push(server);
    return server;
  };

  beforeAll(async () => {
    directory = await makeTempDir('dev-server');
    binary = await findTemporalBinary();
  });

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await directory.remove();
  });

  test('takes workflows with our search attributes, and has them again after kill -9', async () => {
    const first = await start();
    const before = await Connection.connect({ address: first.address });
    await new Client({ connection: before }).workflow.start('nobodyRunsThis', {
      taskQueue: 'none',
      workflowId: 'kept',
      typedSearchAttributes: [{ key: searchAttributes.taskId, value: 'task_1' }],
    });
    await before.close();

    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });

    const second = await start({ port: first.port });
    expect(second.address).toBe(first.address);
    const after = await Connection.connect({ address: second.address });
    const client = new Client({ connection: after });
    await eventually(async () => {
      expect((await client.workflow.count('BoardTaskId = "task_1"')).count).toBe(1);
    });
    await after.close();
    expect(second.uiAddress).toBeUndefined();

    await second.stop();
    await expect(claimPort(second.port, 'TEST_PORT')).resolves.toBe(second.port);
  });

  test('refuses a taken port by the name of its setting', async () => {
    const server = await start();
    await expect(claimPort(server.port, 'TEST_PORT')).rejects.toThrow(PortInUseError);
    await expect(claimPort(server.port, 'TEST_PORT')).rejects.toThrow(/TEST_PORT/);
    await server.stop();
  });

  test('starts nothing for a page on the web or another user: its HTTP API refuses every host name', async () => {
    const server = await start({ ui: true });
    const { httpAddress, uiAddress } = server;
    const body = '{"workflowType": {"name": "nobodyRunsThis"}, "taskQueue": {"name": "none"}}';
    const url = `http://${httpAddress}/api/v1/namespaces/${namespace}/workflows/forged`;
    const hosts = [httpAddress, 'localhost', `localhost:${httpAddress.split(':')[1]}`, 'attacker.example', '*'];
    for (const host of [...hosts, '', 'no', 'no%20host%20has%20this%20name', 'no host has this name']) {
      for (const type of ['text/plain', 'application/json']) {
        const { status } = await sendRequest({ url, method: 'POST', headers: { host, 'content-type': type }, body });
        // A name with spaces is none that a request can have.
        expect([host, status]).toEqual([host, host.includes(' ') ? 400 : 403]);
      }
    }
    const connection = await Connection.connect({ address: server.address });
    await expect(new Client({ connection }).workflow.getHandle('forged').describe()).rejects.toThrow(
      WorkflowNotFoundError,
    );
    await connection.close();
    const ui = await sendRequest({ url: `http://${uiAddress!.host}:${uiAddress!.port}/` });
    expect([ui.status, ui.text.includes('<!doctype html>')]).toEqual([200, true]);
    await server.stop();
  });

  test('passes on no more than it was given: its environment has no settings, its command line no secret', async () => {
    process.env.BOARD_ADMIN_KEY = 'a-secret-of-the-operator';
    process.env.OTHER_SECRET = 'another-secret-of-the-operator';
    const server = await start();
    for (const file of ['environ', 'cmdline']) {
      expect(await readFile(`/proc/${server.pid}/${file}`, 'utf8')).not.toContain('of-the-operator');
    }
    delete process.env.BOARD_ADMIN_KEY;
    delete process.env.OTHER_SECRET;
    await server.stop();
  });

  test('is started with other ports when another process takes one of them just before', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    other.unref();
    const { port: taken } = other.address() as AddressInfo;
    const unlucky = `${directory.path}/unlucky`;
    const script = `#!/bin/sh
if [ -e '${unlucky}.once' ]; then exec '${binary}' "$@"; fi
: > '${unlucky}.once'
exec '${binary}' "$@" --http-port ${taken}
`;
    await writeFile(unlucky, script, { mode: 0o755 });
    const server = await startDevServer({ binary: unlucky, dbFile: `${directory.path}/unlucky.db`, namespace, log });
    servers.push(server);
    expect((await fetch(`http://${server.httpAddress}/api/v1/namespaces/${namespace}`)).status).toBe(403);
    other.close();
  });

  test('takes free ports that no connection of this machine can be given', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, () => claimPort(0, 'TEST_PORT')));
    for (const port of ports) {
      expect(port).toBeGreaterThan(1_024);
      expect(port).toBeLessThan(32_768);
    }
  });

  test('reports what the server printed when it does not start', async () => {
    const logFile = `${directory.path}/failing.log`;
    const failing = startDevServer({ binary, dbFile: directory.path, logFile, namespace, log });
    await expect(failing).rejects.toThrow(/did not start[^]*\| .*unable to open database/);
    expect(await readFile(logFile, 'utf8')).not.toBe('');
  });

  test('reports which program could not be started', async () => {
    const missing = startDevServer({
      binary: '/nonexistent/temporal',
      dbFile: `${directory.path}/x.db`,
      namespace,
      log,
    });
    await expect(missing).rejects.toThrow(/\/nonexistent\/temporal could not be started/);
  });
});
