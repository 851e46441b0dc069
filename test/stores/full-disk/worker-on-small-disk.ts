import { mkdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { nodePart } from '../../../platform/processes/parts/node-part';
import { eventually } from '../../../platform/testing/eventually';
import { boardQueue } from '../../../workflows/queues';
import { testSettings } from '../../support/settings';
import { fill } from './fill';

/**
 * A worker that starts on a full disk, and whose disk fills again while it works; its log is on the same disk. Run on a
 * disk of its own, which is the first argument; the second is the address of a Temporal server.
 */
const [disk = '', address = ''] = process.argv.slice(2);
const filler = join(disk, 'filler');
const logFile = join(disk, 'worker.log');

const logged = (): { msg: string; level: string }[] =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { msg: string; level: string });

async function main(): Promise<void> {
  const dataDir = join(disk, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  fill(filler);
  const tries = new Set<string>();
  const watcher = watch(dataDir, (_event, name) => {
    if (name?.startsWith('space-')) {
      tries.add(name);
    }
  });
  const worker = nodePart({
    name: 'worker',
    script: join(__dirname, '..', '..', '..', 'dist', 'worker', 'main.js'),
    environment: () => ({
      ...testSettings,
      PATH: process.env.PATH,
      BOARD_DATA_DIR: dataDir,
      TEMPORAL_ADDRESS: address,
      LOG_LEVEL: 'info',
    }),
    output: { file: logFile },
  });
  const started = await worker.start();
  const state = { ended: false };
  const exited = started.exited.then(() => (state.ended = true));
  const alive = <T>(look: () => T): Promise<T> =>
    eventually(() => {
      if (state.ended) {
        throw new Error('The worker has ended.');
      }
      return look();
    });
  const client = new Client({ connection: await Connection.connect({ address }) });
  /** A question without a proof, which is refused; the worker logs so, and cannot record it while its disk is full. */
  const ask = (workflowId: string): Promise<void> =>
    client.workflow.execute('launchPreview', { workflowId, taskQueue: boardQueue, args: [{ hostId: null }] }).then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof WorkflowFailedError)) {
          throw error;
        }
      },
    );
  try {
    await alive(() => {
      if (tries.size < 2) {
        throw new Error('It has not looked for space twice.');
      }
    });
    const waited = !worker.isReady();
    rmSync(filler);
    await alive(() => {
      if (!worker.isReady()) {
        throw new Error('not ready');
      }
    });
    const first = logged().map(({ msg }) => msg);

    fill(filler);
    // What is left of the last page of the log is on no disk's account.
    fill(logFile, '\n'.charCodeAt(0));
    const size = readFileSync(logFile).length;
    await ask('while-full');
    const unwritten = readFileSync(logFile).length === size;
    const survived = !state.ended;
    rmSync(filler);
    await ask('afterwards');
    const goesOn = await alive(() => {
      const failures = logged().filter(({ msg }) => msg === 'Activity failed').length;
      if (failures < 2) {
        throw new Error('The log is not complete yet.');
      }
      return !state.ended && worker.isReady();
    });
    const spaceMessages = ['disk full, waiting for space', 'disk space available again', 'worker started'].filter(
      (msg) => first.includes(msg),
    );
    process.stdout.write(JSON.stringify({ waited, spaceMessages, unwritten, survived, goesOn }));
  } finally {
    watcher.close();
    await client.connection.close();
    await started.stop(20_000);
    await exited;
  }
}

void main();
