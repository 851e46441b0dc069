// Works on a goal turn by turn: each start is a line of the file named by the first argument, and the n-th one of its task succeeds
// with the verification `tests` passed, where n is the second argument. Before that it is partial. Every turn reports 100 tokens.
// With a third argument it waits so many milliseconds before its end.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const [witness, lastTurn, pauseMs = '0'] = process.argv.slice(2);
const { BOARD_TASK_ID: task, BOARD_ATTEMPT_ID: attempt } = process.env;
const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const { conversation, sections } = JSON.parse(first);
const message = sections.find(({ id }) => id === 'conversation-message')?.text;
const edge = conversation?.edge ?? null;
appendFileSync(witness, `${JSON.stringify({ task, attempt, edge, message })}\n`);
const turns = readFileSync(witness, 'utf8')
  .split('\n')
  .filter((line) => line.includes(`"${task}"`)).length;
const isLast = turns >= Number(lastTurn);
const lines = [
  { type: 'tokens', model: 'test', inputTokens: 60, outputTokens: 40, cost: 0.25 },
  { type: 'tool', name: 'look', status: 'started' },
  {
    type: 'result',
    status: isLast ? 'success' : 'partial',
    summary: `turn ${turns}`,
    ...(isLast ? { verification: [{ gateId: 'tests', status: 'passed', summary: 'All passed' }] } : {}),
    continuation: { provider: 'pursuer', kind: 'thread', reference: `thread-${task}` },
  },
];
await delay(Number(pauseMs));
process.stdout.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), () => process.exit(0));
