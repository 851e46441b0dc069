import { inParallel, percentile } from '../latency';

/** One run, from its request on. */
export interface Sample {
  runningMs: number;
  doneMs: number;
}

export type Row = Record<string, string | number>;

const round = (value: number): number => Math.round(value * 10) / 10;

function row(
  name: string,
  { callers, samples, elapsedMs }: { callers: number; samples: Sample[]; elapsedMs: number },
): Row {
  const running = samples.map(({ runningMs }) => runningMs);
  const done = samples.map(({ doneMs }) => doneMs);
  return {
    what: name,
    callers,
    'running p50': round(percentile(running, 0.5)),
    'running p99': round(percentile(running, 0.99)),
    'done p50': round(percentile(done, 0.5)),
    'done p99': round(percentile(done, 0.99)),
    'runs/s': round((samples.length / elapsedMs) * 1000),
  };
}

/** Times `times` calls of `one`, `callers` at a time. */
export async function load(
  name: string,
  { callers, times }: { callers: number; times: number },
  one: (n: number) => Promise<Sample>,
): Promise<Row> {
  const samples: Sample[] = [];
  const startedAt = performance.now();
  await inParallel(times, callers, async (n) => {
    samples.push(await one(n));
  });
  return row(name, { callers, samples, elapsedMs: performance.now() - startedAt });
}
