import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { identify } from '../../../platform/processes/identity';
import type { RunningPart } from '../../../platform/processes/parts/part';
import { supervise } from '../../../platform/processes/parts/supervisor';
import { awaitNamespace } from '../../../platform/temporal/await-namespace';
import { findTemporalBinary } from '../../../platform/temporal/embedded/binary';
import { discoverTemporal } from '../../../platform/temporal/embedded/discover';
import { type EmbeddedServer, embeddedServer } from '../../../platform/temporal/embedded/embedded-server';
import { readRuntime, writeRuntime } from '../../../platform/temporal/embedded/runtime-file';
import { TemporalUnavailableError } from '../../../platform/temporal/unavailable-error';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

const log = createLog({ name: 'test', level: 'silent' });
const namespace = 'default';

describe('the embedded Temporal server', () => {
  let directory: TempDir;
  let dataDir: string;
  let binary: string;
  const running: RunningPart[] = [];

  const server = (uiPort?: number, answersWithinMs?: number): EmbeddedServer =>
    embeddedServer({ binary, dataDir, namespace, uiPort, answersWithinMs, log });
  const started = async (part: EmbeddedServer): Promise<RunningPart> => {
    const run = await part.start();
    running.push(run);
    return run;
  };

  const modeOf = async (path: string) => (await stat(join(dataDir, path))).mode & 0o777;

  beforeEach(async () => {
    binary = await findTemporalBinary();
    directory = await makeTempDir('embedded');
    dataDir = directory.path;
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((run) => run.stop(5_000)));
    await directory.remove();
  });

  test('comes back at the same address after kill -9, under the supervisor', async () => {
    const temporal = server(0);
    const supervision = await supervise([temporal], { log, backoff: { firstMs: 10, maxMs: 100 } });
    const address = temporal.address();
    const httpAddress = temporal.httpAddress();
    const uiUrl = temporal.uiUrl();
    expect((await fetch(uiUrl!)).status).toBe(200);
    expect(await discoverTemporal({ configured: undefined, dataDir })).toEqual({ address, httpAddress });
    const { temporal: pid } = supervision.pids();
    process.kill(pid!, 'SIGKILL');
    await eventually(() => expect(supervision.pids().temporal).not.toBe(pid));
    expect([temporal.address(), temporal.httpAddress(), temporal.uiUrl()]).toEqual([address, httpAddress, uiUrl]);
    await awaitNamespace(address, namespace, { withinMs: 120_000 });
    await eventually(async () => expect((await fetch(uiUrl!)).status).toBe(200));
    await supervision.stop();
    expect(await readRuntime(dataDir)).toBeUndefined();
    await expect(fetch(uiUrl!)).rejects.toThrow();
  });

  test('left behind by a killed supervisor is used again, watched and stopped', async () => {
    const orphan = await started(server());
    const runtime = await readRuntime(dataDir);
    expect(runtime).toMatchObject({ httpApiClosed: true });
    expect(runtime).not.toHaveProperty('uiAddress');
    expect([await modeOf('runtime'), await modeOf('runtime/temporal.json')]).toEqual([0o700, 0o600]);
    const heir = server();
    const adopted = await started(heir);
    expect(adopted.pid).toBe(orphan.pid);
    await adopted.stop(5_000);
    expect(await adopted.exited).toEqual({ code: null, signal: null });
    expect(await identify(orphan.pid)).toBeUndefined();
  });

  test('of an earlier version, whose HTTP API is open, or without the UI that is asked for, is replaced', async () => {
    const orphan = await started(server());
    const { httpApiClosed: _closed, ...earlier } = (await readRuntime(dataDir))!;
    await writeRuntime(dataDir, earlier);
    const replacement = await started(server());
    expect(replacement.pid).not.toBe(orphan.pid);
    expect(await identify(orphan.pid)).toBeUndefined();
    const withUi = server(0);
    const other = await started(withUi);
    expect(other.pid).not.toBe(replacement.pid);
    expect((await fetch(withUi.uiUrl()!)).status).toBe(200);
  });

  test('that does not answer is ended and replaced', async () => {
    const orphan = await started(server());
    // Suspended: alive, and silent.
    process.kill(orphan.pid, 'SIGSTOP');
    const replacement = await started(server(undefined, 500));
    expect(replacement.pid).not.toBe(orphan.pid);
    expect(await identify(orphan.pid)).toBeUndefined();
  });

  test('is not mistaken for another process that was given its pid', async () => {
    await writeRuntime(dataDir, {
      pid: process.pid,
      startTime: '1',
      bootId: '',
      address: '127.0.0.1:1',
      httpApiClosed: true,
    });
    const fresh = await started(server());
    expect(fresh.pid).not.toBe(process.pid);
  });
});

describe('finding the server', () => {
  test('prefers the configured address', async () => {
    const set = { configured: 'temporal:7233', configuredHttp: 'temporal:7243', dataDir: '/nonexistent' };
    const found = { address: 'temporal:7233', httpAddress: 'temporal:7243' };
    await expect(discoverTemporal(set)).resolves.toEqual(found);
  });

  test('gives up with what to do', async () => {
    const failing = discoverTemporal({ configured: undefined, dataDir: '/nonexistent', withinMs: 150 });
    await expect(failing).rejects.toThrow(TemporalUnavailableError);
    await expect(failing).rejects.toThrow(/TEMPORAL_ADDRESS.*npm start/);
  });
});
