// Asks the API, before it has read its task, what is recorded of the run it is; writes the response to the worktree.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const url = `${process.env.WITNESS_API}/api/agents/${process.env.BOARD_TASK_ID}/status`;
const status = await (await fetch(url)).json();
const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
writeFileSync('witness.json', JSON.stringify({ status, transport: JSON.parse(first) }));
process.stdout.write('{"type":"result","status":"success","summary":"seen"}\n', () => process.exit(0));
