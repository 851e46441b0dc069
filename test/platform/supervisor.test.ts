import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { identify } from '../../platform/processes/identity';
import { nodePart, type NodePart } from '../../platform/processes/node-part';
import { supervise, type Supervision } from '../../platform/processes/supervisor';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const log = createLog({ name: 'test', level: 'silent' });
const backoff = { firstMs: 10, maxMs: 50 };

describe('the supervisor', () => {
  let directory: TempDir;
  let supervision: Supervision | undefined;
  const journal = () => join(directory.path, 'journal');
  /** What happened so far, as `[name, event, pid]`. */
  const entries = (): string[][] =>
    existsSync(journal())
      ? readFileSync(journal(), 'utf8')
          .trim()
          .split('\n')
          .map((line) => line.split(' '))
      : [];
  const told = (): string[] => entries().map(([name, event]) => `${name} ${event}`);

  const part = (name: string, environment: NodeJS.ProcessEnv = {}): NodePart =>
    nodePart({
      name,
      script: join(__dirname, 'fixtures', 'part.mjs'),
      environment: { ...process.env, PART_JOURNAL: journal(), PART_NAME: name, ...environment },
      output: { file: join(directory.path, 'output') },
    });

  const allReady = (parts: NodePart[]) =>
    eventually(() => expect(parts.map((each) => each.isReady())).toEqual(parts.map(() => true)));

  beforeEach(async () => {
    directory = await makeTempDir('supervisor');
  });

  afterEach(async () => {
    await supervision?.stop();
    supervision = undefined;
    await directory.remove();
  });

  test('starts a killed part again, as often as it takes', async () => {
    const worker = part('worker');
    supervision = await supervise([worker], { log, backoff });
    const seen = new Set<number>();
    for (let kills = 0; kills < 3; kills += 1) {
      await allReady([worker]);
      const { worker: pid } = supervision.pids();
      seen.add(pid!);
      process.kill(pid!, 'SIGKILL');
      await eventually(() => expect(supervision!.pids().worker).not.toBe(pid));
    }
    expect(seen.size).toBe(3);
  });

  test('ends the parts in reverse order', async () => {
    const parts = [part('first'), part('second')];
    supervision = await supervise(parts, { log, backoff });
    await allReady(parts);
    await supervision.stop();
    expect(told().slice(-4)).toEqual(['second asked', 'second ended', 'first asked', 'first ended']);
    expect(await supervision.ended).toBe(0);
  });

  test('kills a part that does not end when asked', async () => {
    const stubborn = part('stubborn', { PART_STUBBORN: 'yes' });
    supervision = await supervise([stubborn], { log, backoff, graceMs: 100 });
    await allReady([stubborn]);
    const { stubborn: pid } = supervision.pids();
    await supervision.stop();
    expect(told()).toEqual(['stubborn started', 'stubborn asked']);
    expect(await identify(pid!)).toBeUndefined();
  });

  test('ends everything with exit code 2 when a part finds its configuration wrong', async () => {
    const parts = [part('worker'), part('api', { PART_EXIT_CODE: '2' })];
    supervision = await supervise(parts, { log, backoff });
    expect(await supervision.ended).toBe(2);
    expect(told().filter((line) => line === 'api started')).toHaveLength(1);
    expect(await identify(supervision.pids().worker!)).toBeUndefined();
  });

  test('stops while a part that always dies waits for its next start', async () => {
    supervision = await supervise([part('dying', { PART_EXIT_CODE: '1' })], {
      log,
      backoff: { firstMs: 60_000, maxMs: 60_000 },
    });
    await eventually(() => expect(told()).toEqual(['dying started']));
    await supervision.stop();
    expect(await supervision.ended).toBe(0);
    expect(told()).toEqual(['dying started']);
  });

  test('ends what it started when a later part cannot be started at all', async () => {
    const impossible = { name: 'impossible', start: () => Promise.reject(new Error('no such thing')) };
    await expect(supervise([part('worker'), impossible], { log, backoff })).rejects.toThrow('no such thing');
    const pids = entries().map(([, , pid]) => Number(pid));
    for (const pid of pids) expect(await identify(pid)).toBeUndefined();
  });

  test('leaves no part behind when it is killed itself', async () => {
    const supervisor = spawn(
      process.execPath,
      [
        '-e',
        `const { spawn } = require('node:child_process');
         spawn(process.execPath, [process.env.PART_SCRIPT], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });`,
      ],
      {
        stdio: 'ignore',
        env: {
          ...process.env,
          PART_SCRIPT: join(__dirname, 'fixtures', 'part.mjs'),
          PART_JOURNAL: journal(),
          PART_NAME: 'orphan',
        },
      },
    );
    await eventually(() => expect(told()).toEqual(['orphan started']));
    const ended = once(supervisor, 'exit');
    supervisor.kill('SIGKILL');
    await ended;
    await eventually(() => expect(told()).toContain('orphan left-behind'));
    const pid = Number(entries()[0]![2]);
    await eventually(async () => expect(await identify(pid)).toBeUndefined());
  });
});
