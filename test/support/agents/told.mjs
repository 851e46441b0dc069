// Writes its arguments and its task to the worktree: {args, transport}.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
writeFileSync('told.json', JSON.stringify({ args: process.argv.slice(2), transport: JSON.parse(first) }));
process.stdout.write('{"type":"result","status":"success","summary":"told"}\n', () => process.exit(0));
