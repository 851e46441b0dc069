import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import type { Service } from '../../support/stack/service';

/** Runs end a moment before everything of theirs is released. */
const withinMs = 60_000;

/** What is still there when every run has ended: capacity, launches that wait, processes, files. */
export async function problemsOfLeftovers(service: Service, ledgerFile: string): Promise<string[]> {
  const left = async (): Promise<string[]> => [
    ...(await problemsOfCapacity(service)),
    ...(await processesWith(`LEDGER=${ledgerFile}`)).map((pid) => `process ${pid} of an agent is still there`),
    ...(await filesIn(join(service.dataDir, 'envelopes'))).map((file) => `${file} is left in envelopes`),
    ...(await filesIn(join(service.dataDir, 'agents'))).map((file) => `${file} is left in agents`),
  ];
  let found = await left();
  await eventually(
    async () => {
      found = await left();
      if (found.length > 0) {
        throw new Error(found[0]);
      }
    },
    { withinMs, everyMs: 500 },
  ).catch(() => undefined);
  return found;
}

async function problemsOfCapacity({ call }: Service): Promise<string[]> {
  const { reservations } = await call.ok('GET', '/api/admission?state=active&limit=1000');
  const { depth } = await call.ok('GET', '/api/admission/queue');
  const waiting: number = depth.global.current;
  const held = reservations.map(({ attemptId }: { attemptId: string }) => `${attemptId}: it still holds capacity`);
  return [...held, ...(waiting === 0 ? [] : [`${waiting} launches are still in the queue`])];
}

const filesIn = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);

/** Agents are found by their environment, whichever worker started them. The worker has the same variable, and is none. */
async function processesWith(variable: string): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      const isAgent = environment.includes('\0BOARD_ATTEMPT_ID=') || environment.startsWith('BOARD_ATTEMPT_ID=');
      return isAgent && environment.split('\0').includes(variable) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}
