// Writes the trace that it was started in, by its environment and by its document, to the file that it is given.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const { traceContext } = JSON.parse(first);
writeFileSync(
  process.argv[2],
  JSON.stringify({ environment: process.env.TRACEPARENT ?? null, document: traceContext ?? null }),
);
process.stdout.write(`${JSON.stringify({ type: 'result', status: 'success', summary: 'Written.' })}\n`, () =>
  process.exit(0),
);
