/**
 * What it costs to know who calls: the same request to a route that is open to every caller, with nothing and with each credential,
 * in turns, beside a bare Koa that is sent the same headers and answers the same bytes, so that whatever else the machine does is the same for all. Then what open WebSockets cost that do nothing,
 * whose callers are verified once a second, and how long one is open after its session was ended.
 *
 *     npm run build && node dist/bench/auth.js
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import { startApi } from '../api/start';
import { localUser } from '../contracts/identity/user';
import { readEnvironment } from '../platform/config/env';
import { newSecretToken, secretTokenText } from '../platform/crypto/secret-token';
import { createLog } from '../platform/log/log';
import type { SessionRecord } from '../stores/identity/sessions/session-store';
import type { BareAnswer } from './floor/koa';
import { percentile } from './latency';

const rounds = Number(process.env.BENCH_ROUNDS ?? '2000');
const watchers = Number(process.env.BENCH_WATCHERS ?? '1000');
const adminKey = 'key-of-the-benchmark-0123456789abcdef';
const idleMs = 10_000;

interface Served {
  url: string;
  /** An API token, the session of a device, and sessions of the owner. */
  token: string;
  device: string;
  sessions: string[];
}

/** The API of this benchmark, in the child, with a credential of each kind. */
async function serve(dataDir: string): Promise<void> {
  const env = readEnvironment({
    BOARD_PORT: '0',
    BOARD_DATA_DIR: dataDir,
    BOARD_ADMIN_KEY: adminKey,
    BOARD_WATCHERS_PER_ADDRESS: '10000',
    BOARD_MAX_WATCHERS: '10000',
    RATE_LIMIT_GLOBAL: '0',
    RATE_LIMIT_READ: '0',
    RATE_LIMIT_WRITE: '0',
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
  });
  const api = await startApi(env, createLog({ name: 'bench', level: env.LOG_LEVEL }));
  const { url, context } = api;
  const { apiTokens, devices, passwords, sessions, sessionTokens, workspaces } = context;
  const member = await workspaces.membership('local', localUser);
  const held = { workspaceId: 'local', userId: localUser, membershipId: member?.id ?? '' };
  const { token } = await apiTokens.create({
    ...held,
    name: 'bench',
    subject: 'service',
    role: 'admin',
    createdBy: '',
  });
  const secret = newSecretToken();
  const client = { deviceName: 'bench', deviceId: 'bench', clientId: 'bench', clientMode: 'desktop-local' as const };
  const terms = { role: 'admin' as const, scopes: ['workspace:read' as const], capabilities: [], keyFingerprint: '' };
  await devices.createOnce({ ...held, ...client, ...terms }, secret);
  await passwords.create(localUser, { passwordHash: '', recoveryHash: '' });
  const ids = Array.from({ length: watchers }, (_each, n) => `session_${String(n).padStart(24, '0')}`);
  const expiresAt = new Date(Date.now() + 3_600_000);
  const at = new Date().toISOString();
  const signed: string[] = [];
  const records = await context.database.collection<SessionRecord>({ name: 'sessions' });
  for (const [n, _id] of ids.entries()) {
    // No user has that many sessions: the store would end the oldest.
    const fields = { workspaceId: 'local', role: 'admin', method: 'password', passwordRevision: 1 } as const;
    const times = { createdAt: at, lastUsedAt: at, expiresAt: expiresAt.toISOString() };
    await records.insert({ _id, userId: localUser, ...fields, ...times, remembered: false });
    signed[n] = await sessionTokens.sign({ sessionId: _id, userId: localUser }, expiresAt);
  }
  process.on('message', (message) => {
    if (message === 'usage') {
      process.send?.(process.cpuUsage());
    } else {
      void sessions.end(localUser, ids[0] ?? '').then(() => process.send?.('ended'));
    }
  });
  process.once('disconnect', () => void api.close().then(() => process.exit(0)));
  const served: Served = { url, token, device: secretTokenText('rbd', secret), sessions: signed };
  process.send?.(served);
}

/** Milliseconds until the whole response is there. */
function timeOf(url: string, headers: Record<string, string>, agent: Agent): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    request(`${url}/api`, { headers, agent }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) {
          resolve(performance.now() - startedAt);
        } else {
          reject(new Error(`HTTP ${response.statusCode}`));
        }
      });
    })
      .on('error', reject)
      .end();
  });
}

async function measureRequests(served: Served, bareUrl: string): Promise<void> {
  const { url, token, device, sessions } = served;
  const [session = ''] = sessions;
  const callers: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['key of the environment', { 'X-API-Key': adminKey }],
    ['API token', { 'X-API-Key': token }],
    ['device session', { Authorization: `Bearer ${device}` }],
    ['session, cookie', { Cookie: `board_session=${session}` }],
    ['session, bearer', { Authorization: `Bearer ${session}` }],
  ];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const samples = callers.map((): number[] => []);
  const floor = callers.map((): number[] => []);
  for (let round = -200; round < rounds; round += 1) {
    for (const [n, [, headers]] of callers.entries()) {
      const ms = await timeOf(url, headers, agent);
      const bareMs = await timeOf(bareUrl, headers, agent);
      if (round >= 0) {
        samples[n]?.push(ms);
        floor[n]?.push(bareMs);
      }
    }
  }
  agent.destroy();
  const base = percentile(samples[0] ?? [], 0.5);
  const shown = (ms: number) => Math.round(ms * 1_000) / 1_000;
  console.log(`GET /api, one request at a time, ${rounds} of each in turns, in milliseconds`);
  console.table(
    callers.map(([caller], n) => ({
      caller,
      p50: shown(percentile(samples[n] ?? [], 0.5)),
      p99: shown(percentile(samples[n] ?? [], 0.99)),
      'bare Koa p50': shown(percentile(floor[n] ?? [], 0.5)),
      'times bare': Number((percentile(samples[n] ?? [], 0.5) / percentile(floor[n] ?? [], 0.5)).toFixed(1)),
      'p50 more than nothing': shown(percentile(samples[n] ?? [], 0.5) - base),
    })),
  );
}

/** Measures requests beside a bare Koa, in a process of its own, that has the same answer. */
async function besideBare(served: Served): Promise<void> {
  const bare = fork(join(__dirname, 'floor', 'koa.js'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [bareUrl] = (await once(bare, 'message')) as [string];
  try {
    const response = await fetch(`${served.url}/api`);
    const type = response.headers.get('content-type') ?? 'application/json';
    bare.send({ status: response.status, type, body: await response.text() } satisfies BareAnswer);
    await once(bare, 'message');
    await measureRequests(served, bareUrl);
  } finally {
    bare.disconnect();
    await once(bare, 'exit');
  }
}

async function processorMs(api: ChildProcess): Promise<number> {
  api.send('usage');
  const [usage] = (await once(api, 'message')) as [NodeJS.CpuUsage];
  return (usage.user + usage.system) / 1_000;
}

async function open(url: string, headers: Record<string, string>): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers });
  await once(socket, 'open');
  return socket;
}

async function measureWatchers(api: ChildProcess, { url, sessions }: Served): Promise<void> {
  const kinds: [string, (n: number) => Record<string, string>][] = [
    ['one key of the environment', () => ({ 'X-API-Key': adminKey })],
    ['one session', () => ({ Cookie: `board_session=${sessions[0]}` })],
    ['a session each', (n) => ({ Cookie: `board_session=${sessions[n]}` })],
  ];
  const rows = [];
  for (const [caller, headersOf] of kinds) {
    const sockets: WebSocket[] = [];
    for (let n = 0; n < watchers; n += 1) {
      sockets.push(await open(url, headersOf(n)));
    }
    await pause(1_000);
    const before = await processorMs(api);
    await pause(idleMs);
    const used = (await processorMs(api)) - before;
    rows.push({ caller, 'processor ms a second': Math.round(used / (idleMs / 1_000)) });
    if (caller === 'a session each') {
      const startedAt = performance.now();
      const closed = once(sockets[0] ?? new WebSocket(url), 'close') as Promise<[number]>;
      api.send('end');
      const [code] = await closed;
      console.log(`closed with ${code} ${Math.round(performance.now() - startedAt)} ms after its session was ended`);
    }
    sockets.forEach((socket) => socket.terminate());
    await pause(1_000);
  }
  console.log(`${watchers} WebSockets that receive nothing`);
  console.table(rows);
}

async function main(): Promise<void> {
  const [, , command, given] = process.argv;
  if (command === 'serve' && given) {
    return serve(given);
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'runboard-bench-auth-'));
  const child: ChildProcess = fork(__filename, ['serve', dataDir], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  try {
    const [served] = (await once(child, 'message')) as [Served];
    await besideBare(served);
    await measureWatchers(child, served);
  } finally {
    child.disconnect();
    await once(child, 'exit');
    await rm(dataDir, { recursive: true, force: true });
  }
}

void main();
