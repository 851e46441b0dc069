import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { nothing } from '../../../domain/admission/capacity';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { Database } from '../../../stores/port/collection';
import type { Ledger } from '../../../stores/runs/admission/capacity-ledger';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { openSqlite } from '../../../stores/sqlite/database';

const support = resolve(__dirname, '../../support');
const limit = 4;

describe('the ledger of capacity', () => {
  let directory: TempDir;
  let database: Database;
  const reservers: { child: ChildProcess; held: string[] }[] = [];
  const file = () => join(directory.path, 'store.sqlite');

  beforeEach(async () => {
    directory = await makeTempDir('reserve');
    database = await openSqlite({ file: file(), log: createLog({ name: 'test', level: 'fatal' }) });
  });
  afterEach(async () => {
    await Promise.all(reservers.splice(0).map(({ child }) => kill(child)));
    await database.close();
    await directory.remove();
  });

  async function startReserver(name: string, version: string) {
    const args = ['-r', join(support, 'register-ts.cjs'), join(support, 'processes', 'reserver.ts')];
    const child = spawn(process.execPath, [...args, file(), name, version], { stdio: ['ignore', 'pipe', 'inherit'] });
    const reserver = { child, held: [] as string[] };
    reservers.push(reserver);
    const lines = createInterface({ input: child.stdout });
    await once(lines, 'line');
    lines.on('line', (line) => reserver.held.push(line));
    return reserver;
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
  }

  it.each([
    ['this version', ['this', 'this']],
    ['this version and the one before it', ['this', 'earlier', 'this']],
  ])(
    'counts exactly what is reserved after processes of %s were killed at any moment of it',
    async (_of, versions) => {
      const store = await createReservationStore(database);
      const ids: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const started = await Promise.all(versions.map((version) => startReserver(`${round}`, version)));
        await eventually(async () => {
          expect(await store.activeRuns()).toBeLessThanOrEqual(limit);
          expect(started.flatMap(({ held }) => held).length).toBeGreaterThan(20 + round * 13);
        });
        await Promise.all(started.map(({ child }) => kill(child)));
        ids.push(...started.flatMap(({ held }) => held));

        const later = new Date(Date.now() + 120_000);
        await store.repair(later);
        expect(await store.repair(later)).toBe(0);
        const runs = await store.activeRuns();
        expect(runs).toBeLessThanOrEqual(limit);
        expect((await store.usage()).global).toMatchObject({ runs });
        // What the killed processes held is released by those that continue their runs.
        for (const id of await store.holders()) {
          await store.release(id, { reason: 'reconciled', evidence: 'killed', now: new Date() });
        }
        expect(await store.activeRuns()).toBe(0);
        expect((await store.usage()).global ?? nothing).toEqual(nothing);
      }
      for (const id of new Set(ids)) {
        // Those that were killed while they were requeued held nothing.
        expect((await store.get(id))?.state).toMatch(/^(released|expired)$/);
      }
      await store.repair(new Date());
      const ledger = await (await database.collection<Ledger>({ name: 'admission-ledger' })).get('ledger');
      expect(ledger).toMatchObject({ counting: {}, released: {}, holders: {} });
    },
    120_000,
  );
});
