import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { backoffMs, failuresAfterServing } from '../../platform/processes/backoff';
import { identify } from '../../platform/processes/identity';
import { type NodePart, nodePart } from '../../platform/processes/parts/node-part';
import type { Part } from '../../platform/processes/parts/part';
import { supervise, type Supervision, usualRestart } from '../../platform/processes/parts/supervisor';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { loadFirst } from '../support/processes/node-options';

const log = createLog({ name: 'test', level: 'silent' });
const fixture = (name: string) => join(__dirname, 'fixtures', name);
const backoff = { firstMs: 10, maxMs: 50 };

describe('the supervisor', () => {
  let directory: TempDir;
  let supervision: Supervision | undefined;
  const journal = () => join(directory.path, 'journal');
  const output = () => join(directory.path, 'output');
  /** What happened so far, as `[name, event, pid]`. */
  const entries = (): string[][] =>
    existsSync(journal())
      ? readFileSync(journal(), 'utf8')
          .trim()
          .split('\n')
          .map((line) => line.split(' '))
      : [];
  const reported = (): string[] => entries().map(([name, event]) => `${name} ${event}`);

  const forParts = (name: string, environment: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...process.env,
    NODE_OPTIONS: loadFirst(join(__dirname, '..', 'support', 'register-ts.cjs')),
    PART_JOURNAL: journal(),
    PART_NAME: name,
    ...environment,
  });

  const part = (name: string, environment?: NodeJS.ProcessEnv): NodePart =>
    nodePart({
      name,
      script: fixture('part.ts'),
      environment: () => forParts(name, environment),
      output: { file: output() },
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

  test('counts a part as healthy again once it has served for a while, and not for a slow start', async () => {
    const lines: { msg: string; part: string; failures: number }[] = [];
    const watched = createLog({ name: 'test', level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
    const failures = (name: string) => lines.filter((line) => line.part === name && line.failures > 0);
    const [serving, dying] = [part('serving'), part('dying', { PART_EXIT_CODE: '1' })];
    supervision = await supervise([serving, dying], {
      log: watched,
      backoff: { firstMs: 1, maxMs: 2 },
      healthyAfterMs: 1,
    });
    await eventually(() =>
      expect(failures('dying').map((line) => line.failures)).toEqual(expect.arrayContaining([1, 2, 3])),
    );
    for (let kills = 0; kills < 2; kills += 1) {
      await allReady([serving]);
      const { serving: pid } = supervision.pids();
      process.kill(pid!, 'SIGKILL');
      await eventually(() => expect(supervision!.pids().serving).not.toBe(pid));
    }
    expect(failures('serving').map((line) => line.failures)).toEqual([1, 1]);
  });

  test('starts a part again within 5 s, however often it has died', () => {
    const { backoff: usual, healthyAfterMs } = usualRestart;
    const longest = Math.max(...Array.from({ length: 100 }, (_, died) => backoffMs(died + 1, usual)));
    expect(longest).toBeLessThanOrEqual(5_000);
    expect(healthyAfterMs).toBeLessThanOrEqual(5_000);
  });

  test('a part that serves for half as long as makes it healthy is not waited for as one that cannot start', () => {
    const longest = (servedMs: number): number => {
      let failures = 0;
      for (let died = 0; died < 20; died += 1) {
        failures = failuresAfterServing(failures, servedMs, usualRestart.healthyAfterMs) + 1;
      }
      return usualRestart.backoff.firstMs * 2 ** (failures - 1);
    };
    expect(longest(2_500)).toBeLessThanOrEqual(200);
    expect(longest(2_000)).toBeLessThanOrEqual(400);
    expect(longest(0)).toBeGreaterThan(5_000);
    expect(failuresAfterServing(20, 5_000, 5_000)).toBe(0);
  });

  test('ends the parts in reverse order', async () => {
    const parts = [part('first'), part('second')];
    supervision = await supervise(parts, { log, backoff });
    await allReady(parts);
    await supervision.stop();
    expect(reported().slice(-4)).toEqual(['second asked', 'second ended', 'first asked', 'first ended']);
    expect(await supervision.ended).toBe(0);
  });

  test('kills a part that does not end when asked', async () => {
    const stubborn = part('stubborn', { PART_CLOSING: 'for ever' });
    supervision = await supervise([stubborn], { log, backoff, graceMs: 200 });
    await allReady([stubborn]);
    const { stubborn: pid } = supervision.pids();
    await supervision.stop();
    expect(reported()).toEqual(['stubborn started', 'stubborn asked']);
    expect(await identify(pid!)).toBeUndefined();
  });

  test('lets a part that cannot close end itself, and report it', async () => {
    const slow = part('slow', { PART_CLOSING: 'too slow' });
    supervision = await supervise([slow], { log, backoff, graceMs: 30_000 });
    await allReady([slow]);
    await supervision.stop();
    expect(readFileSync(output(), 'utf8')).toContain('shutdown timed out');
  });

  test.each([
    ['exception', ''],
    ['rejection', ''],
    ['exception', 'too slow'],
  ])('starts a part again that ends itself over an uncaught %s, closing %s', async (kind, closing) => {
    const failing = part('failing', { PART_ERROR: kind, PART_CLOSING: closing });
    supervision = await supervise([failing], { log, backoff, graceMs: 200 });
    await eventually(() =>
      expect(reported()).toEqual([
        'failing started',
        'failing asked',
        ...(closing ? [] : ['failing ended']),
        'failing started',
      ]),
    );
    const printed = readFileSync(output(), 'utf8');
    expect(printed).toMatch(/"level":"fatal".*uncaught exception|"level":"fatal".*unhandled rejection/);
    expect(printed).not.toContain('secret-of-the-part');
  });

  test('ends everything with exit code 2 when a part finds its configuration wrong', async () => {
    const parts = [part('worker'), part('api', { PART_EXIT_CODE: '2' })];
    supervision = await supervise(parts, { log, backoff });
    expect(await supervision.ended).toBe(2);
    expect(supervision.misconfigured()).toBe('api');
    expect(reported().filter((line) => line === 'api started')).toHaveLength(1);
    expect(await identify(supervision.pids().worker!)).toBeUndefined();
  });

  test('stops while a part that always dies waits for its next start', async () => {
    supervision = await supervise([part('dying', { PART_EXIT_CODE: '1' })], {
      log,
      backoff: { firstMs: 60_000, maxMs: 60_000 },
    });
    await eventually(() => expect(reported()).toEqual(['dying started']));
    await supervision.stop();
    expect(await supervision.ended).toBe(0);
    expect(reported()).toEqual(['dying started']);
  });

  test('ends what it started when a later part cannot be started at all', async () => {
    const worker = part('worker');
    const impossible: Part = {
      name: 'impossible',
      start: async () => {
        await allReady([worker]);
        throw new Error('no such thing');
      },
    };
    await expect(supervise([worker, impossible], { log, backoff })).rejects.toThrow('no such thing');
    expect(reported()).toEqual(['worker started', 'worker asked', 'worker ended']);
  });

  test('leaves no part behind when it is killed itself', async () => {
    const supervisor = spawn(process.execPath, [fixture('supervising.ts')], {
      stdio: 'ignore',
      env: forParts('orphan'),
    });
    await eventually(() => expect(reported()).toEqual(['orphan started']));
    const pid = Number(entries()[0]![2]);
    supervisor.kill('SIGKILL');
    await eventually(() => expect(reported()).toEqual(['orphan started', 'orphan asked', 'orphan ended']));
    await eventually(async () => expect(await identify(pid)).toBeUndefined());
  });
});
