/**
 * `npm run chaos -- --strikes 200 | --minutes 30 [--every 5] [--seed 1] [--concurrency 8] [--disk /mnt/small]`: kills and
 * pauses random processes of the service, and fills its disk, while agents run; prints tables. Ends with 1 when anything was
 * lost or done twice.
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos';

const { values } = parseArgs({
  options: {
    strikes: { type: 'string' },
    minutes: { type: 'string' },
    every: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    concurrency: { type: 'string', default: '8' },
    disk: { type: 'string' },
  },
});

const number = (name: 'strikes' | 'minutes' | 'every' | 'seed' | 'concurrency'): number | undefined => {
  const given = values[name];
  if (given === undefined) {
    return undefined;
  }
  const value = Number(given);
  if (!(value > 0)) {
    throw new Error(`--${name} is a number above 0.`);
  }
  return value;
};

async function main(): Promise<void> {
  const [minutes, everySeconds] = [number('minutes'), number('every')];
  const strikes = number('strikes') ?? (minutes === undefined ? 200 : undefined);
  const seed = number('seed') ?? 1;
  console.log(`seed ${seed}`);
  const report = await runChaos({
    ...(minutes === undefined ? {} : { minutes }),
    ...(strikes === undefined ? {} : { strikes }),
    ...(everySeconds === undefined ? {} : { everySeconds }),
    ...(values.disk === undefined ? {} : { disk: values.disk }),
    seed,
    concurrency: number('concurrency') ?? 8,
    report: (line) => console.log(line),
  });
  const { strikes: struck, played, endings, recovery, problems, dataDir, ledger, ...totals } = report;
  console.table({ struck });
  console.table({ played });
  console.table({ ...totals, ...endings, problems: problems.length });
  console.table({ 'death of a worker to the next attempt, ms': recovery });
  for (const problem of problems) {
    console.error(problem);
  }
  if (dataDir !== undefined) {
    console.error(`What there is to look at lies in ${dataDir}, the ledger is ${ledger}.`);
  }
  process.exitCode = problems.length === 0 ? 0 : 1;
}

void main();
