import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { createLog } from '../../../platform/log/log';
import { openDatabase } from '../../../stores/port/open';
import { createHostStore } from '../../../stores/runs/hosts/host-store';
import { wakeScheduler } from '../../../workflows/admission-scheduler/client';
import { openControl } from '../control';

/** Where the processes of a simulation meet, and what they simulate. */
export interface Plan {
  dataDir: string;
  mongoUrl?: string | undefined;
  temporalAddress: string;
  /** How many runs a host executes at a time. */
  slots: number;
  /** How long an agent takes; it does nothing. */
  agentMs: number;
}

export const log = createLog({ name: 'fleet', level: 'error' });

/** How soon a silent host is noticed by Temporal, in milliseconds. */
export const heartbeatTimeoutMs = 3_000;

/** Opens what each process of the simulation has: a client, the stores, and admission with them. */
export async function openParts({ dataDir, mongoUrl, temporalAddress }: Plan) {
  const database = await openDatabase({ mongoUrl, dataDir, log });
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  const hosts = await createHostStore(database);
  const control = await openControl(database, {
    maxRuns: 100_000,
    hosts,
    log,
    wakeScheduler: () => wakeScheduler(client),
  });
  const close = async () => {
    await connection.close();
    await database.close();
  };
  return { client, hosts, control, close };
}

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Starts a process of the simulation; resolves once it is ready. It ends with this one, or when it is disconnected. */
export async function startPart(script: string, plan: object): Promise<ChildProcess> {
  const child = fork(script, [JSON.stringify(plan)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${script} ended: ${code}`)));
  // Its end is only of interest until it is ready.
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  return child;
}

/** Ends a process of the simulation as a supervisor does. */
export async function stopPart(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.disconnect();
    await once(child, 'exit');
  }
}

/** The plan of this process. */
export const planOf = (): unknown => JSON.parse(process.argv[2] ?? '');
