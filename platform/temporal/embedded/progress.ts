import { Transform } from 'node:stream';

/** Receives a line about what takes long. */
export type Report = (line: string) => void;

const stepPercent = 10;
const everyMs = 5_000;
const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0);

/** Passes bytes through and reports each tenth of them; without a total, nothing. */
export function meter(name: string, total: number, report: Report): Transform {
  let bytes = 0;
  let reported = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const percent = total > 0 ? Math.min(100, Math.floor((bytes / total) * 100)) : 0;
      if (percent >= reported + stepPercent) {
        reported = percent - (percent % stepPercent);
        report(`${name}: ${percent} % of ${megabytes(total)} MB`);
      }
      done(null, chunk);
    },
  });
}

/** Reports every few seconds that something continues which does not show how far it is. */
export async function whileReporting<T>(name: string, report: Report, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const ticking = setInterval(
    () => report(`${name} … ${Math.round((performance.now() - startedAt) / 1_000)} s`),
    everyMs,
  );
  try {
    return await work();
  } finally {
    clearInterval(ticking);
  }
}
