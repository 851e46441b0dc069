// Like worker-bee, and leaves a line for each start and end in the file named by WITNESS, outside every worktree.
import { appendFileSync } from 'node:fs';

const witness = (what) =>
  appendFileSync(process.env.WITNESS, `${what} ${process.env.BOARD_ATTEMPT_ID} ${process.pid}\n`);
witness('start');
process.on('exit', () => witness('end'));
await import('./worker-bee.mjs');
