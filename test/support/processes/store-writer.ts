/**
 * A process that writes to an embedded store until it is killed: `store-writer.ts <file> <name> <mode>`.
 * Prints `ready` when it begins, and prints each id or number once the store has acknowledged it.
 */
import { createLog } from '../../../platform/log/log';
import { createTraceStore } from '../../../stores/governance/trace-store';
import type { LogEntry } from '../../../stores/port/collection';
import { openSqlite } from '../../../stores/sqlite/database';

const [file = '', name = '', mode = ''] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const database = await openSqlite({ file, log: createLog({ name: 'writer', level: 'fatal' }) });
  const documents = await database.collection<{ _id: string; count?: number }>({ name: 'documents' });
  const log = await database.log<LogEntry & { by: string }>({ name: 'lines' });
  print('ready');
  if (mode === 'insert') {
    const lane = async (number: number) => {
      for (let at = 0; ; at += 1) {
        const id = `${name}.${number}.${at}`;
        await documents.insert({ _id: id });
        print(id);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, number) => lane(number)));
  } else if (mode === 'append') {
    for (;;) {
      for (const sequence of await log.append('s', [{ by: name }, { by: name }])) {
        print(String(sequence));
      }
    }
  } else if (mode === 'traces' || mode === 'file-traces') {
    const traces = await createTraceStore(database);
    const input = { kind: 'policy', outcome: 'warned', title: 'launch: warn', summary: 'A rule warns.' } as const;
    const lane = async () => {
      for (let at = 0; ; at += 1) {
        print(await traces.record(input));
        if (mode === 'file-traces' && at % 10 === 0) {
          await traces.list({ limit: 1 });
        }
      }
    };
    await Promise.all(Array.from({ length: 5 }, lane));
  } else {
    const times = Number(mode);
    const lane = async () => {
      for (let at = 0; at < times; at += 1) {
        await documents.findOneAndUpdate({ _id: 'counter' }, { $inc: { count: 1 } }, { upsert: true });
      }
    };
    await Promise.all(Array.from({ length: 5 }, lane));
    await database.close();
    print('done');
  }
}

void main();
