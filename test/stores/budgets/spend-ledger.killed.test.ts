import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createSpendLedger } from '../../../stores/governance/budgets/spend-ledger';
import type { Database } from '../../../stores/port/collection';
import { openSqlite } from '../../../stores/sqlite/database';

const support = resolve(__dirname, '../../support');

describe('the ledger of what runs use', () => {
  let directory: TempDir;
  let database: Database;
  const spenders: { child: ChildProcess; acknowledged: string[] }[] = [];
  const file = () => join(directory.path, 'store.sqlite');

  beforeEach(async () => {
    directory = await makeTempDir('spend');
    database = await openSqlite({ file: file(), log: createLog({ name: 'test', level: 'fatal' }) });
  });
  afterEach(async () => {
    await Promise.all(spenders.map(({ child }) => kill(child)));
    await database.close();
    await directory.remove();
  });

  async function startSpender(name: string) {
    const args = ['-r', join(support, 'register-ts.cjs'), join(support, 'processes', 'spender.ts'), file(), name];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const spender = { child, acknowledged: [] as string[] };
    spenders.push(spender);
    const lines = createInterface({ input: child.stdout });
    await once(lines, 'line');
    lines.on('line', (line) => spender.acknowledged.push(line));
    return spender;
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
  }

  it('has counted every acknowledged report exactly once after processes were killed at any moment of it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const pair = await Promise.all([startSpender(`a${round}`), startSpender(`b${round}`)]);
      await eventually(() => {
        for (const { acknowledged } of pair) {
          expect(acknowledged.length).toBeGreaterThan(20 + round * 13);
        }
      });
      await Promise.all(pair.map(({ child }) => kill(child)));
    }

    const ledger = await createSpendLedger(database);
    const used = await ledger.spent({ scope: 'workspace', scopeId: 'workspace' });
    const reports = [];
    for (;;) {
      const more = await ledger.reports(reports.at(-1)?.sequence ?? 0, 500);
      reports.push(...more);
      if (more.length === 0) {
        break;
      }
    }
    const recorded = new Set(reports.map(({ dedupeKey }) => dedupeKey));
    expect(spenders.flatMap(({ acknowledged }) => acknowledged).filter((key) => !recorded.has(key))).toEqual([]);
    expect(used).toEqual({ tokens: reports.length, costUsd: Math.round(reports.length) / 1_000 });
    for (const task of new Set(reports.map(({ taskId }) => taskId))) {
      const own = reports.filter(({ taskId }) => taskId === task);
      expect(await ledger.spent({ scope: 'task', scopeId: task })).toMatchObject({ tokens: own.length });
    }
    const days = { from: Date.parse('2020-01-01'), to: Date.parse('2100-01-01') };
    expect(await ledger.spent({ scope: 'agent', scopeId: 'bee' }, days)).toMatchObject({ tokens: reports.length });
  });
});
