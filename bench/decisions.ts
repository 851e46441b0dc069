import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { PolicyFields } from '../contracts/governance/policy';
import { createLog } from '../platform/log/log';
import { makeTempDir } from '../platform/testing/temp-dir';
import { openGovernanceStores } from '../stores/governance/open';
import type { PolicyStore } from '../stores/governance/policy-store';
import type { Database } from '../stores/port/collection';
import { createSettingsStore } from '../stores/settings/settings-store';
import { openSqlite } from '../stores/sqlite/database';
import { createFeedStore } from '../stores/system/feed-store';
import { createRateCountStore } from '../stores/system/rate-count-store';

/**
 * How long the rules take to decide about one action, beside what a durable commit of one row takes on this disk:
 * `node dist/bench/decisions.js`. Each case that writes has a database file of its own, and the cases take turns of some hundred
 * rounds, so that all of them meet the same disk and the same neighbours, and each pays for its own checkpoints.
 */
const policies = 500;
const rounds = 6_000;
const turn = 500;

type Case = () => Promise<unknown>;

const percentile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** A transaction of one row of the size of a trace, in a table without an index, by the driver alone. */
function bareCommit(file: string, row: string): Case {
  const database = new Libsql(file);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE bare (id INTEGER PRIMARY KEY, doc TEXT)');
  const insert = database.prepare('INSERT INTO bare (doc) VALUES (?)');
  return async () => {
    database.exec('BEGIN IMMEDIATE');
    insert.run(row);
    database.exec('COMMIT');
  };
}

/** The same by a collection, without an index or with those that traces are searched by. */
async function insertInto(db: Database, keys: string[], document: object): Promise<Case> {
  const newest = { createdAt: -1, _id: -1 } as const;
  const indexes = keys.map((key) => ({ keys: { [key]: 1 as const, ...newest } }));
  const collection = await db.collection<{ _id: string }>({ name: 'rows', indexes });
  return () => collection.insert({ ...document, _id: `trace_${randomBytes(12).toString('hex')}` });
}

async function openRules(database: Database) {
  const { features } = await (
    await createSettingsStore(database, { BOARD_MAX_RUNS: 1, BOARD_RUN_TIMEOUT_MS: 1 })
  ).read();
  const rates = await createRateCountStore(database);
  const feed = await createFeedStore(database);
  const settings = { current: async () => features };
  return openGovernanceStores(database, { rates, feed, settings, attempts: { get: async () => undefined } });
}

async function makePolicies(store: PolicyStore): Promise<void> {
  for (let made = 0; made < policies; made += 1) {
    const scope = { projects: [`project-${made}`] };
    const rules = [{ tool: '*', action: 'launch', effect: 'warn' }];
    const fields = { type: 'rules', name: 'P', description: '', enabled: true, precedence: 0, scope, rules };
    await store.create(`policy-${made}`, fields as PolicyFields);
  }
}

interface Row {
  'p50 (ms)': number;
  'p99 (ms)': number;
  'CPU p50 (ms)': number;
  'p99 / bare p99': number;
}

/** Runs every case for all rounds, in turns, and returns a row for each; the first is the one that others are compared with. */
async function measure(
  cases: Record<string, Case>,
  { settled, between }: { settled: () => Promise<void>; between: () => Promise<void> },
): Promise<Record<string, Row>> {
  const times = new Map(Object.keys(cases).map((name) => [name, { wall: [] as number[], cpu: [] as number[] }]));
  const turns = Array.from({ length: rounds / turn }, () => Object.entries(cases)).flat();
  for (const [name, run] of turns) {
    for (let round = 0; round < turn; round += 1) {
      const used = process.cpuUsage();
      const begun = performance.now();
      await run();
      times.get(name)?.wall.push(performance.now() - begun);
      const { user, system } = process.cpuUsage(used);
      times.get(name)?.cpu.push((user + system) / 1_000);
      await settled();
    }
    await between();
  }
  const ms = (value: number): number => Number(value.toFixed(3));
  const sorted = [...times].map(([name, { wall, cpu }]) => ({
    name,
    wall: wall.sort((one, other) => one - other),
    cpu: cpu.sort((one, other) => one - other),
  }));
  const floor = percentile(sorted[0]?.wall ?? [], 0.99);
  const row = ({ wall, cpu }: { wall: number[]; cpu: number[] }): Row => ({
    'p50 (ms)': ms(percentile(wall, 0.5)),
    'p99 (ms)': ms(percentile(wall, 0.99)),
    'CPU p50 (ms)': ms(percentile(cpu, 0.5)),
    'p99 / bare p99': ms(percentile(wall, 0.99) / floor),
  });
  return Object.fromEntries(sorted.map(({ name, ...values }) => [name, row(values)]));
}

async function main(): Promise<void> {
  const directory = await makeTempDir('decisions');
  const log = createLog({ name: 'bench', level: 'silent' });
  const open = (name: string) => openSqlite({ file: join(directory.path, `${name}.sqlite`), log });
  const databases = await Promise.all(['board', 'plain', 'indexed'].map(open));
  const [board, plain, indexed] = databases as [Database, Database, Database];
  const { rules, traces, ...stores } = await openRules(board);
  await makePolicies(stores.policies);
  const asked = (project: string) => ({ action: 'launch' as const, agent: 'bee', actor: 'service:bench', project });
  const { traceId = '' } = await rules.decide(asked('project-7'));
  const { id: _id, ...trace } = (await traces.get(traceId)) ?? { id: '' };
  const searched = ['kind', 'outcome', 'subject.agentId', 'subject.taskId', 'subject.actionType', 'redacted'];
  let recorded: Promise<void> = Promise.resolve();
  const filedIn: number[] = [];
  // A search files what was stored before it. In the service this is done in quiet moments.
  const file = async (): Promise<void> => {
    const begun = performance.now();
    await traces.list({ limit: 1 });
    filedIn.push(performance.now() - begun);
  };
  const table = await measure(
    {
      'bare insert and commit of a row': bareCommit(join(directory.path, 'bare.sqlite'), JSON.stringify(trace)),
      'insert, no index': await insertInto(plain, [], trace),
      'insert, six indexes as traces have': await insertInto(indexed, searched, trace),
      'decision, no rule about it': () => rules.decide(asked('other')),
      'decision, while its trace is stored': async () => {
        ({ recorded } = await rules.decideFirst(asked('project-7')));
      },
      'decision, once its trace is stored': () => rules.decide(asked('project-7')),
    },
    { settled: () => recorded, between: file },
  );
  console.log(`${policies} policies, ${rounds} rounds`);
  console.table(table);
  const [traced, spent] = [2 * rounds, filedIn.reduce((sum, ms) => sum + ms, 0)];
  console.log(
    `${traced} traces filed for searches in ${(spent / traced).toFixed(3)} ms each, outside of the decisions`,
  );
  await Promise.all(databases.map((database) => database.close()));
  await directory.remove();
}

void main();
