/**
 * What a query of insights takes in a store with one million stages, beside SQLite alone with the same SQL, by turns: on as many
 * rows as a query is given, and on all of them.
 *
 *     npm run build && node dist/bench/workflows/insights.js
 *
 * A first argument divides the number of runs, for a quick look.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner } from 'fast-jwt';
import Libsql from 'libsql';
import { monotonicFactory } from 'ulid';
import { createLog } from '../../platform/log/log';
import { startAll } from '../../scripts/start-all';
import { addRun, noRows } from '../../services/workflow-runs/insights/table-rows';
import { tables } from '../../services/workflow-runs/insights/tables';
import type { RunRecord, Stage } from '../../services/workflow-runs/runs/run';
import { createRunStore } from '../../services/workflow-runs/runs/store';
import { openDatabase } from '../../stores/port/open';
import { percentile } from '../latency';
import { request } from '../request';
import { openService } from '../service';

const runCount = Math.ceil(10_000 / Number(process.argv[2] ?? 1));
const stagesOfRun = 100;
/** What one query is given of the newest stages. */
const loadedStages = 20_000;
const repetitions = 15;

const queries = {
  'group by': 'SELECT kind, count(*), avg(duration_secs), sum(cost) FROM stages GROUP BY kind',
  filter: 'SELECT count(*) FROM stages WHERE retries > 1 AND duration_secs > 40',
  'sort, limit': 'SELECT run_id, id, duration_secs FROM stages ORDER BY duration_secs DESC, run_id LIMIT 10',
};

const kinds = ['prompt', 'command', 'human', 'tool'];
const nextId = monotonicFactory();
const usage = { input_tokens: 100, output_tokens: 10, cost: 0.001 };

function aRun(number: number): RunRecord {
  const at = new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString();
  const stages = Array.from({ length: stagesOfRun }, (_each, index): Stage => ({
    ...{
      id: `node.${index}`,
      name: 'Node',
      dot_id: 'node',
      kind: kinds[index % kinds.length] ?? '',
      status: 'completed',
    },
    ...{ retries: index % 3, duration_secs: (index * 7 + number) % 60, started_at: at, ended_at: at },
    ...(index % kinds.length === 0 && { model: 'small', usage }),
  }));
  return {
    ...{ _id: nextId(), status: 'completed', workflow: { name: 'Bench', slug: 'bench' }, title: 'Bench' },
    ...{ dot_source: 'digraph { start -> exit }', created_by: 'bench', created_at: at, started_at: at, ended_at: at },
    ...{ stages, context: {}, guidance: [], revision: 1 },
  };
}

/** SQLite alone, in memory, with the rows of some runs. */
function bare(runs: readonly RunRecord[]): Libsql.Database {
  const database = new Libsql(':memory:');
  database.exec(`CREATE TABLE stages (${tables.stages})`);
  const places = tables.stages.split(',').map(() => '?');
  const insert = database.prepare(`INSERT INTO stages VALUES (${places.join(', ')})`);
  database.exec('BEGIN');
  for (const run of runs) {
    const rows = noRows();
    addRun(rows, run);
    rows.stages.forEach((row) => insert.run(...row));
  }
  database.exec('COMMIT');
  return database;
}

async function main(): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const token = createSigner({ key: privateKey, algorithm: 'EdDSA', expiresIn: 3_600_000 })({
    iss: 'runboard',
    sub: 'https://people.example/bench',
  });
  const dir = await mkdtemp(join(tmpdir(), 'board-bench-'));
  const dataDir = join(dir, 'data');
  const service = await startAll({
    environment: {
      ...openService,
      ...{ WORKFLOW_RUNS_JWT_PUBLIC_KEY: publicKey, WORKFLOW_RUNS_USERS: 'bench', WORKFLOW_RUNS_PORT: '0' },
    },
    dataDir,
    ports: { api: 0 },
    services: ['workflow-runs'],
    quiet: true,
  });
  const log = createLog({ name: 'bench', level: 'silent' });
  try {
    const runs = Array.from({ length: runCount }, (_each, number) => aRun(number));
    const database = await openDatabase({ dataDir: join(dataDir, 'workflow-runs'), log });
    const store = await createRunStore(database);
    for (const run of runs) {
      await store.insert(run);
    }
    await database.close();
    const some = bare(runs.slice(-loadedStages / stagesOfRun));
    const all = bare(runs);
    const url = `${service.serviceUrls['workflow-runs'] ?? ''}/insights/execute`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const ways: Record<string, { rows: number; run: (sql: string) => unknown }> = {
      insights: {
        rows: Math.min(loadedStages, runCount * stagesOfRun),
        run: (sql) => request(url, { method: 'POST', headers, body: JSON.stringify({ sql }) }),
      },
      'SQLite alone': {
        rows: Math.min(loadedStages, runCount * stagesOfRun),
        run: (sql) => some.prepare(sql).raw().all(),
      },
      'SQLite alone, all rows': { rows: runCount * stagesOfRun, run: (sql) => all.prepare(sql).raw().all() },
    };
    const table = [];
    for (const [query, sql] of Object.entries(queries)) {
      const samples = new Map<string, number[]>(Object.keys(ways).map((way) => [way, []]));
      for (let n = 0; n < repetitions; n += 1) {
        for (const [way, { run }] of Object.entries(ways)) {
          const began = performance.now();
          await run(sql);
          samples.get(way)?.push(performance.now() - began);
        }
      }
      for (const [way, of] of samples) {
        const ms = (share: number): string => percentile(of, share).toFixed(1);
        table.push({ query, way, rows: ways[way]?.rows, 'p50 ms': ms(0.5), 'p90 ms': ms(0.9) });
      }
    }
    console.log(`${runCount * stagesOfRun} stages in the store; load average ${loadavg()[0]?.toFixed(1) ?? ''}`);
    console.table(table);
    some.close();
    all.close();
  } finally {
    await service.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

void main();
