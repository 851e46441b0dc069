/**
 * `npm run chaos -- --kills 200 [--seed 1] [--concurrency 8]`: kills random processes of the service while agents run, and
 * prints a table. Ends with 1 when anything was lost or done twice.
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    concurrency: { type: 'string', default: '8' },
  },
});

async function main(): Promise<void> {
  const [kills, seed, concurrency] = [values.kills, values.seed, values.concurrency].map(Number);
  if (![kills, seed, concurrency].every((value) => Number.isInteger(value) && (value ?? 0) > 0)) {
    throw new Error('--kills, --seed and --concurrency are whole numbers above 0.');
  }
  console.log(`seed ${seed}`);
  const report = await runChaos({
    kills: kills ?? 200,
    seed: seed ?? 1,
    concurrency: concurrency ?? 8,
    report: (line) => console.log(line),
  });
  const { kills: killed, endings, problems, dataDir, ...totals } = report;
  console.table({ killed });
  console.table({ ...totals, ...endings, problems: problems.length });
  for (const problem of problems) console.error(problem);
  if (dataDir !== undefined) console.error(`What there is to look at lies in ${dataDir}.`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

void main();
