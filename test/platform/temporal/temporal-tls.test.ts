import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { promisify } from 'node:util';
import { EnvironmentError, readEnvironment } from '../../../platform/config/env';
import { createLog } from '../../../platform/log/log';
import { connectClient, connectWorker } from '../../../platform/temporal/connect';
import { callNexus, NexusNotServedError } from '../../../platform/temporal/nexus-client';
import { type TemporalSecurity, temporalSecurity } from '../../../platform/temporal/security';
import { TemporalUnavailableError } from '../../../platform/temporal/unavailable-error';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type TestTemporal, testTemporal } from '../../support/stack/temporal';

const run = promisify(execFile);
const log = createLog({ name: 'test', level: 'silent' });
const apiKey = 'the-api-key-of-this-test';

let dir: TempDir;
let temporal: TestTemporal;
let grpc: Server;
let http: Server;
const sockets = new Set<Socket>();
const file = (name: string): string => join(dir.path, name);
const openssl = (...args: string[]) => run('openssl', args, { cwd: dir.path });

/** A certificate for `name`, signed by the CA of this test. */
async function certificate(name: string): Promise<void> {
  await openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${name}`,
  );
  await writeFile(file(`${name}.ext`), `subjectAltName=DNS:${name}\n`);
  const sign = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`];
  await openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...sign);
  await chmod(file(`${name}.key`), 0o600);
}

/** Takes those who prove who they are, and hands them to the Temporal server of the tests, as a real one with mTLS. */
async function mutualTls(target: string, ALPNProtocols: string[]): Promise<Server> {
  const [host = '', port] = target.split(':');
  const [ca, cert, key] = await Promise.all(
    ['ca.pem', 'temporal.test.pem', 'temporal.test.key'].map((n) => readFile(file(n))),
  );
  const server = createServer(
    { ca, cert, key, requestCert: true, rejectUnauthorized: true, ALPNProtocols },
    (secure) => {
      const plain = connect(Number(port), host);
      for (const socket of [secure, plain]) {
        sockets.add(socket.on('error', () => undefined));
      }
      secure.pipe(plain).pipe(secure);
    },
  );
  server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const addressOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  dir = await makeTempDir('temporal-tls');
  temporal = await testTemporal();
  await openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=ca',
  );
  await Promise.all(['temporal.test', 'client.test'].map(certificate));
  grpc = await mutualTls(temporal.address, ['h2']);
  http = await mutualTls(temporal.httpAddress, ['http/1.1']);
});

afterAll(async () => {
  for (const socket of sockets) {
    socket.destroy();
  }
  grpc.close();
  http.close();
  await temporal.close();
  await dir.remove();
});

const settings = () => ({
  BOARD_AUTH_ENABLED: 'false',
  TEMPORAL_TLS_CA_FILE: file('ca.pem'),
  TEMPORAL_TLS_CERT_FILE: file('client.test.pem'),
  TEMPORAL_TLS_KEY_FILE: file('client.test.key'),
  TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
});
const securityOf = (given: NodeJS.ProcessEnv): TemporalSecurity => temporalSecurity(readEnvironment(given));
const target = (security: TemporalSecurity) => ({ address: addressOf(grpc), namespace: 'default', log, security });

describe('a Temporal server with mTLS', () => {
  test('is reached by clients, workers and questions to hosts with the certificate of the settings', async () => {
    const security = securityOf(settings());
    const client = await connectClient({ ...target(security), withinMs: 20_000 });
    expect((await client.workflowService.describeNamespace({ namespace: 'default' })).namespaceInfo?.name).toBe(
      'default',
    );
    await client.connection.close();
    const native = await connectWorker({ ...target(security), withinMs: 20_000 });
    await native.close();
    const question = {
      taskQueue: temporal.unique('tls'),
      service: 'none',
      operation: 'none',
      input: {},
      withinMs: 300,
    };
    const asked = callNexus({ httpAddress: addressOf(http), namespace: 'default', security }, question);
    await expect(asked).rejects.toMatchObject({ name: 'NexusFailedError', unanswered: true });
  });

  test('is not reached without it', async () => {
    const { TEMPORAL_TLS_CERT_FILE: _cert, TEMPORAL_TLS_KEY_FILE: _key, ...anonymous } = settings();
    const others = [securityOf(anonymous), securityOf({ ...settings(), TEMPORAL_TLS_SERVER_NAME: 'another.test' }), {}];
    for (const security of others) {
      const connecting = connectClient({ ...target(security), withinMs: 300 });
      await expect(connecting).rejects.toThrow(TemporalUnavailableError);
      const question = { taskQueue: 'none', service: 'none', operation: 'none', input: {}, withinMs: 300 };
      const asked = callNexus({ httpAddress: addressOf(http), namespace: 'default', security }, question);
      await expect(asked).rejects.toThrow(NexusNotServedError);
    }
  });
});

describe('the settings of Temporal’s security', () => {
  test('turn TLS on, each by itself, and an API key does', () => {
    const open = { BOARD_AUTH_ENABLED: 'false' };
    expect(securityOf(open)).toEqual({});
    expect(securityOf({ ...open, TEMPORAL_TLS: 'true' })).toEqual({ tls: true });
    expect(securityOf({ ...open, TEMPORAL_API_KEY: apiKey })).toEqual({ tls: true, apiKey });
    const named = securityOf({ ...open, TEMPORAL_TLS_SERVER_NAME: 'temporal.test' });
    expect(named).toEqual({ tls: { serverNameOverride: 'temporal.test' } });
  });

  test('are refused when a file is missing, others can read the key, or one of a pair is not there', async () => {
    const refused = (changed: NodeJS.ProcessEnv) =>
      expect(() => securityOf({ ...settings(), ...changed })).toThrow(EnvironmentError);
    refused({ TEMPORAL_TLS_CA_FILE: file('none') });
    refused({ TEMPORAL_TLS_KEY_FILE: undefined });
    refused({ TEMPORAL_TLS_CERT_FILE: undefined });
    await writeFile(file('open.key'), await readFile(file('client.test.key')));
    await chmod(file('open.key'), 0o644);
    refused({ TEMPORAL_TLS_KEY_FILE: file('open.key') });
  });
});
