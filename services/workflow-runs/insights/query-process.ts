/** The process of one query: the entry point that `query-runner.ts` starts. */
import { Worker } from 'node:worker_threads';
import { execute } from './execute';
import type { Outcome, Question } from './messages';

/** A query that never ends blocks this thread for ever: another one ends the process. */
function endWithin(ms: number): void {
  const code = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ms})`;
  new Worker(code, { eval: true }).unref();
}

function answer(question: Question): Outcome {
  try {
    return execute(question);
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

process.once('message', (question: Question) => {
  endWithin(question.endWithinMs);
  process.send?.(answer(question), () => process.disconnect());
});
