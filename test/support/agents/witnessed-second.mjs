// Reports that it must be retried later the first time its task is run, and is witnessed-bee from then on.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const marker = `${process.env.WITNESS}.${process.env.BOARD_TASK_ID}`;
if (existsSync(marker)) {
  await import('./witnessed-bee.mjs');
} else {
  await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
  appendFileSync(process.env.WITNESS, `start ${process.env.BOARD_ATTEMPT_ID} ${process.pid}\n`);
  writeFileSync(marker, '');
  const blockers = [{ code: 'rate-limit', summary: 'Come back later.' }];
  const tokens = { type: 'tokens', model: 'bee-1', inputTokens: 1, outputTokens: 1, cost: 0.25 };
  const result = { type: 'result', status: 'failed', summary: 'The model is busy.', blockers };
  process.stdout.write(`${JSON.stringify(tokens)}\n${JSON.stringify(result)}\n`, () => process.exit(0));
}
