/**
 * A process that reports what runs use to an embedded store, and counts it, until it is killed: `spender.ts <file> <name>`.
 * Prints `ready` when it begins, and the key of each report once the store has acknowledged it.
 */
import { createLog } from '../../../platform/log/log';
import { createSpendLedger } from '../../../stores/governance/budgets/spend-ledger';
import { openSqlite } from '../../../stores/sqlite/database';

const [file = '', name = ''] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const ledger = await createSpendLedger(
    await openSqlite({ file, log: createLog({ name: 'spender', level: 'fatal' }) }),
  );
  print('ready');
  for (let at = 0; ; at += 1) {
    const key = `${name}.${at}`;
    const run = {
      attemptId: `attempt_${name}`,
      taskId: `task_${name}_${at % 7}`,
      agent: 'bee',
      project: 'shop',
      tree: name,
    };
    await ledger.record([{ key, ...run, tokens: 1, costUsd: 0.001, at: new Date().toISOString() }]);
    print(key);
    await ledger.caughtUp();
  }
}

void main();
