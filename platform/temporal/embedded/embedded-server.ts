import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../log/log';
import type { ProcessEnd } from '../../processes/child';
import { identify, isSameProcess, type ProcessIdentity } from '../../processes/identity';
import { endProcess } from '../../processes/kill-process-group';
import { claimPort } from '../../processes/parts/claim-port';
import type { Part, RunningPart } from '../../processes/parts/part';
import { awaitLocalNamespace } from './await-local-namespace';
import { startDevServer } from './dev-server';
import { readRuntime, removeRuntime, type TemporalRuntime, writeRuntime } from './runtime-file';
import { startUiProxy, type UiProxy } from './ui-proxy';

export interface EmbeddedServerOptions {
  binary: string;
  /** Has the database, the server's log and the file with its address. */
  dataDir: string;
  namespace: string;
  /** `TEMPORAL_UI_PORT`: where its UI is served, a free one for 0; there is no UI without it. */
  uiPort?: number;
  /** How long an existing server may take to respond, and then to end, in milliseconds. */
  answersWithinMs?: number;
  log: Log;
}

/** The embedded server as a part: started again, it has the same address as before, as its clients expect. */
export interface EmbeddedServer extends Part {
  /** `host:port`, available once it has started. */
  address(): string;
  /** `host:port` of the HTTP API, for Nexus operations. */
  httpAddress(): string | undefined;
  /** Where its UI is served, if that was requested. */
  uiUrl(): string | undefined;
}

const adoptedPollMs = 250;

/**
 * The development server of one data directory. A server that a killed supervisor left behind is adopted when it still responds
 * and is what would be started now, since two servers on one database would corrupt it, and ended otherwise.
 */
export function embeddedServer(options: EmbeddedServerOptions): EmbeddedServer {
  const { dataDir, namespace, uiPort, answersWithinMs = 5_000, log } = options;
  let running: Pick<TemporalRuntime, 'address' | 'httpAddress' | 'uiAddress'> | undefined;
  let proxy: UiProxy | undefined;
  const started = () => {
    if (!running) {
      throw new Error('The embedded Temporal server has not started yet.');
    }
    return running;
  };

  const start = async (): Promise<RunningPart> => {
    await serveUi();
    const previous = await readRuntime(dataDir);
    const running = (previous && (await takeOver(previous))) ?? (await startOwn());
    return {
      ...running,
      stop: async (graceMs) => {
        await running.stop(graceMs);
        await removeRuntime(dataDir);
        await proxy?.close();
        proxy = undefined;
      },
    };
  };

  /** Stays while the server is started again: the address of the UI does not change. */
  const serveUi = async (): Promise<void> => {
    if (uiPort === undefined || proxy) {
      return;
    }
    const port = await claimPort(uiPort, 'TEMPORAL_UI_PORT');
    proxy = await startUiProxy({ port, target: () => running?.uiAddress });
  };

  const takeOver = async (previous: TemporalRuntime): Promise<RunningPart | undefined> => {
    if (!(await isSameProcess(previous))) {
      return undefined;
    }
    const { pid, address, httpAddress, uiAddress } = previous;
    const problem = await unusable(previous);
    if (problem) {
      log.warn({ serverPid: pid, address, ...problem }, 'unusable temporal server killed');
      await endProcess(previous, { graceMs: answersWithinMs });
      return undefined;
    }
    log.info({ serverPid: pid, address }, 'running temporal server reused');
    running = { address, httpAddress, uiAddress };
    return { pid, exited: watchForEnd(previous), stop: (graceMs) => endProcess(previous, { graceMs }) };
  };

  /** Why a running server is not the one that would be started now. */
  const unusable = async ({ address, uiAddress, httpApiClosed }: TemporalRuntime) => {
    if (!httpApiClosed) {
      return { reason: 'its HTTP API is publicly accessible' };
    }
    if ((uiAddress !== undefined) !== (uiPort !== undefined)) {
      return { reason: 'it was started for another UI' };
    }
    try {
      await awaitLocalNamespace(address, namespace, { withinMs: answersWithinMs });
      return undefined;
    } catch (err) {
      return { reason: 'it does not respond', err };
    }
  };

  const startOwn = async (): Promise<RunningPart> => {
    const server = await startDevServer({
      binary: options.binary,
      dbFile: join(dataDir, 'temporal', 'temporal.db'),
      logFile: join(dataDir, 'logs', 'temporal.log'),
      namespace,
      log,
      port: portOf(running?.address),
      httpPort: portOf(running?.httpAddress),
      ui: uiPort !== undefined,
    });
    const { pid, address, httpAddress, uiAddress, exited } = server;
    running = { address, httpAddress, uiAddress };
    const identity = await identify(pid);
    if (identity) {
      await writeRuntime(dataDir, { ...identity, ...running, httpApiClosed: true });
    }
    return { pid, exited, stop: (graceMs) => server.stop(graceMs) };
  };

  return {
    name: 'temporal',
    start: () =>
      start().catch(async (error: unknown) => {
        // Started again it may succeed later, at the same address; a first start that fails leaves nothing behind.
        if (!running) {
          await proxy?.close();
        }
        throw error;
      }),
    address: () => started().address,
    httpAddress: () => started().httpAddress,
    uiUrl: () => proxy?.url,
  };
}

/** The port of a `host:port` that was used before; 0, a free one, for none. */
const portOf = (address: string | undefined): number => Number(address?.split(':').at(-1) ?? 0);

/** The system reports to a parent how its child ended; of another process it only shows that it is gone. */
async function watchForEnd(identity: ProcessIdentity): Promise<ProcessEnd> {
  while (await isSameProcess(identity)) {
    await delay(adoptedPollMs);
  }
  return { code: null, signal: null };
}
