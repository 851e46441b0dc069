import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log/log';
import type { ProcessEnd } from '../processes/child';
import { endProcess } from '../processes/end-group';
import { identify, isSameProcess, type ProcessIdentity } from '../processes/identity';
import type { Part, RunningPart } from '../processes/part';
import { awaitNamespace } from './await-namespace';
import { startDevServer } from './dev-server';
import { readRuntime, removeRuntime, writeRuntime, type TemporalRuntime } from './runtime-file';

export interface EmbeddedServerOptions {
  binary: string;
  /** Holds the database, the server's log and the file that says where it answers. */
  dataDir: string;
  namespace: string;
  /** `TEMPORAL_UI_PORT`; a free one for 0. */
  uiPort: number;
  log: Log;
}

/** The embedded server as a part: started again, it answers where it did before, as its clients expect. */
export interface EmbeddedServer extends Part {
  /** `host:port`, known once it has started. */
  address(): string;
  /** `host:port` of the HTTP API; one that an earlier version left running has none. */
  httpAddress(): string | undefined;
  uiUrl(): string;
}

const answersWithinMs = 5_000;
const adoptedPollMs = 250;

/**
 * The development server of one data directory. A server that a killed supervisor left behind is adopted when it still
 * answers, since two servers on one database would corrupt it, and ended when it does not.
 */
export function embeddedServer(options: EmbeddedServerOptions): EmbeddedServer {
  const { dataDir, namespace, log } = options;
  let known: Pick<TemporalRuntime, 'address' | 'httpAddress' | 'uiUrl'> | undefined;
  const started = () => {
    if (!known) throw new Error('The embedded Temporal server was not started yet.');
    return known;
  };

  const start = async (): Promise<RunningPart> => {
    const previous = await readRuntime(dataDir);
    const running = (previous && (await takeOver(previous))) ?? (await startOwn());
    return {
      ...running,
      stop: async (graceMs) => {
        await running.stop(graceMs);
        await removeRuntime(dataDir);
      },
    };
  };

  const takeOver = async (previous: TemporalRuntime): Promise<RunningPart | undefined> => {
    if (!(await isSameProcess(previous))) return undefined;
    const { pid, address, httpAddress, uiUrl } = previous;
    try {
      await awaitNamespace(address, namespace, { withinMs: answersWithinMs });
    } catch (error) {
      log.warn({ serverPid: pid, address, err: error }, 'ending a temporal server that does not answer');
      await endProcess(previous, { graceMs: answersWithinMs });
      return undefined;
    }
    log.info({ serverPid: pid, address }, 'using the temporal server that already runs on the data directory');
    known = { address, httpAddress, uiUrl };
    return { pid, exited: watchForEnd(previous), stop: (graceMs) => endProcess(previous, { graceMs }) };
  };

  const startOwn = async (): Promise<RunningPart> => {
    const server = await startDevServer({
      binary: options.binary,
      dbFile: join(dataDir, 'temporal', 'temporal.db'),
      logFile: join(dataDir, 'logs', 'temporal.log'),
      namespace,
      log,
      port: portOf(known?.address),
      httpPort: portOf(known?.httpAddress),
      uiPort: known ? Number(new URL(known.uiUrl).port) : options.uiPort,
    });
    const { pid, address, httpAddress, uiUrl, exited } = server;
    known = { address, httpAddress, uiUrl };
    const identity = await identify(pid);
    if (identity) await writeRuntime(dataDir, { ...identity, address, httpAddress, uiUrl });
    return { pid, exited, stop: (graceMs) => server.stop(graceMs) };
  };

  return {
    name: 'temporal',
    start,
    address: () => started().address,
    httpAddress: () => started().httpAddress,
    uiUrl: () => started().uiUrl,
  };
}

/** The port of a `host:port` that was used before; 0, a free one, for none. */
const portOf = (address: string | undefined): number => Number(address?.split(':').at(-1) ?? 0);

/** The system tells a parent how its child ended; of somebody else's process it only shows that it is gone. */
async function watchForEnd(identity: ProcessIdentity): Promise<ProcessEnd> {
  while (await isSameProcess(identity)) await delay(adoptedPollMs);
  return { code: null, signal: null };
}
