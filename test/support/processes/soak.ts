/**
 * A million operations on a store of its own, in a process of its own: `node -r ./test/support/register-ts.cjs
 * test/support/processes/soak.ts DIRECTORY` prints how much its memory grew after a fifth of them, and how many documents are left.
 */
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createLog } from '../../../platform/log/log';
import type { Collection, Database, EntryLog, LogEntry } from '../../../stores/port/collection';
import { openSqlite } from '../../../stores/sqlite/database';

interface Record_ {
  _id: string;
  group: string;
  revision: number;
  text: string;
}

const operations = 1_000_000;
const documents = 2_000;
const lanes = 100;
async function main(directory: string): Promise<void> {
  const file = join(directory, 'store.sqlite');
  const database: Database = await openSqlite({ file, log: createLog({ name: 'soak', level: 'fatal' }) });
  const records: Collection<Record_> = await database.collection<Record_>({
    name: 'records',
    indexes: [{ keys: { group: 1, revision: 1 } }],
  });
  const log: EntryLog<LogEntry & { text: string }> = await database.log({ name: 'lines' });

  const idOf = (at: number) => `r${at % documents}`;

  /** One of a mix like the service's own: mostly reads, some compare-and-sets, finds, appends and replacements. */
  async function operate(at: number): Promise<unknown> {
    switch (at % 20) {
      case 0:
        return log.append(`s${at % 50}`, [{ text: 'x'.repeat(50) }]);
      case 1:
        return records.deleteMany({ _id: idOf(at) });
      case 2:
      case 3:
        return records.findOneAndUpdate(
          { _id: idOf(at) },
          { $inc: { revision: 1 }, $set: { group: `g${at % 97}`, text: 'y'.repeat(at % 200) } },
          { upsert: true },
        );
      case 4:
        return records.find({ group: `g${at % 97}` }, { sort: { revision: 1 }, limit: 3 });
      case 5:
        return log.read(`s${at % 50}`, 5, 5);
      default:
        return records.get(idOf(at));
    }
  }

  async function run(from: number, to: number): Promise<void> {
    let next = from;
    const lane = async () => {
      while (next < to) {
        await operate(next++);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    await turn();
  }

  const warm = operations / 5;
  await run(0, warm);
  const before = process.memoryUsage.rss();
  await run(warm, operations);
  const growth = process.memoryUsage.rss() - before;
  const left = await records.count({ _id: { $gte: '' } });
  await database.close();
  process.stdout.write(JSON.stringify({ growth, left, documents }));
}

void main(process.argv[2] ?? '.');
