import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createToolServerPool, type ToolServerPool } from '../../../providers/tool-servers/pool';
import type { ToolServerConnection } from '../../../providers/tool-servers/tool-server';
import { aToolServer, hostileProgram } from '../../support/factories/tool-server';
import { anEnvironment } from '../../support/tool-servers/environment';

const { signal } = new AbortController();
const hostile = (how: string, ...args: string[]) =>
  aToolServer({ id: 'hostile', displayName: 'Hostile', transport: hostileProgram(how, ...args) });

let pool: ToolServerPool | undefined;
let pauses: number[] = [];
let time = 0;

const aPool = (): ToolServerPool => {
  pauses = [];
  time = Date.now();
  pool = createToolServerPool(anEnvironment(), {
    now: () => time,
    pause: (ms) => {
      pauses.push(ms);
      time += ms;
      return Promise.resolve();
    },
  });
  return pool;
};
const pidOf = async (connection: ToolServerConnection): Promise<number> => {
  const { content } = await connection.callTool({ name: 'echo', arguments: {}, signal, timeoutMs: 20_000 });
  return Number((content as { text: string }[])[0]?.text.split(' ')[0]);
};

let directory: TempDir;
beforeEach(async () => {
  directory = await makeTempDir('tool-servers');
});

afterEach(async () => {
  await pool?.closeAll();
  await directory.remove();
});

describe('pool of tool servers', () => {
  it('starts one server for each definition and key, also for concurrent uses', async () => {
    const servers = aPool();
    const file = join(directory.path, 'pids');
    const definition = hostile('counts', file);

    const [first, second, other] = await Promise.all([
      servers.use(definition, 'a', pidOf),
      servers.use(definition, 'a', pidOf),
      servers.use(definition, 'b', pidOf),
    ]);
    expect(first).toBe(second);
    expect(first).not.toBe(other);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(servers.health()).toMatchObject([
      { key: 'a', state: 'ready', failures: 0 },
      { key: 'b', state: 'ready', failures: 0 },
    ]);

    await servers.close('a');
    await eventually(() => expect(existsSync(`/proc/${first}`)).toBe(false));
    expect(existsSync(`/proc/${other}`)).toBe(true);
    expect(servers.health()).toMatchObject([{ key: 'b' }]);
  });

  it('starts a server again after a pause when it ended', async () => {
    const servers = aPool();
    const definition = hostile('pid');
    const first = await servers.use(definition, 'a', pidOf);
    process.kill(first, 'SIGKILL');
    await servers.use(definition, 'a', pidOf).catch(() => undefined);

    const second = await servers.use(definition, 'a', pidOf);
    expect(second).not.toBe(first);
    expect(pauses).toHaveLength(1);
    expect(servers.health()).toMatchObject([{ state: 'ready', failures: 0 }]);
  });

  it('refuses without a start while the pause is longer than a start may take', async () => {
    const servers = aPool();
    const file = join(directory.path, 'file');
    const definition = { ...hostile('dies-at-once', file), startupTimeoutMs: 5_000 };
    let refusal: { code: string; retryAfterMs?: number } = { code: '' };
    for (let tries = 0; tries < 10 && refusal.code !== 'backing-off'; tries += 1) {
      refusal = await servers.use(definition, 'a', pidOf).then(
        () => refusal,
        (error: unknown) => error as typeof refusal,
      );
    }

    expect(refusal).toMatchObject({ code: 'backing-off', retryAfterMs: expect.any(Number) as number });
    expect(servers.health()).toMatchObject([
      { state: 'ended', lastError: { code: 'ended' }, retryAt: expect.any(String) as string },
    ]);
    expect(pauses.length).toBeGreaterThan(2);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(5_000);
  });

  it('starts no more servers at once than may run', async () => {
    let [opened, running] = [0, 0];
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const connection = { ended: new AbortController().signal, close: async () => undefined };
    const servers = createToolServerPool(anEnvironment(), {
      open: async () => {
        opened += 1;
        await started;
        running += 1;
        return connection as unknown as ToolServerConnection;
      },
    });
    const uses = Array.from({ length: 70 }, (_, n) => servers.use(hostile('pid'), `key ${n}`, async () => n));
    const results = Promise.allSettled(uses);
    await eventually(() => expect(opened).toBeGreaterThanOrEqual(64));
    start();
    const refused = (await results).flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(running).toBe(64);
    expect(refused).toHaveLength(6);
    expect(refused[0]).toMatchObject({ code: 'too-many' });

    await servers.close('key 0');
    await expect(servers.use(hostile('pid'), 'another', async () => 'runs')).resolves.toBe('runs');
    await servers.closeAll();
  });

  it('starts nothing after it was closed', async () => {
    const servers = aPool();
    const connection = await servers.use(hostile('pid'), 'a', (each) => Promise.resolve(each));
    await servers.closeAll();
    expect(connection.ended.aborted).toBe(true);
    await expect(servers.use(hostile('pid'), 'a', pidOf)).rejects.toMatchObject({ code: 'too-many' });
  });
});
