import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from '../../log/log';
import { type Child, launch, type ProcessEnd } from '../../processes/child';
import { baseEnvironment } from '../../processes/environment/base-environment';
import { claimPort } from '../../processes/parts/claim-port';
import { tail } from '../../processes/parts/tail';
import { TemporalUnavailableError } from '../unavailable-error';
import { awaitLocalNamespace } from './await-local-namespace';
import { devServerArguments } from './dev-server-arguments';
import { privateUiAddress, type SocketAddress } from './private-ui-address';

export interface DevServerOptions {
  /** Path of the Temporal CLI. */
  binary: string;
  /** SQLite file that holds every history; made when absent. */
  dbFile: string;
  namespace: string;
  log: Log;
  /** Frontend port; a free one for 0 or none. */
  port?: number;
  /** Port of the HTTP API; a free one for 0 or none. */
  httpPort?: number;
  /** Whether it serves its UI, which authenticates no caller: at an address that no page can reach. */
  ui?: boolean;
  /** What the server prints is appended here; beside the database file when absent. */
  logFile?: string;
  /** How long it may take until the namespace responds, in milliseconds. */
  startWithinMs?: number;
}

/** A running development server. It listens on this machine only. */
export interface DevServer {
  /** `host:port` of the gRPC API. */
  address: string;
  /** `host:port` of its HTTP API, of which only Nexus operations are served: the rest refuses every caller. */
  httpAddress: string;
  /** Where its UI listens, if it has one: for a proxy that checks who calls. */
  uiAddress?: SocketAddress;
  pid: number;
  port: number;
  /** SIGTERM, and SIGKILL after `graceMs` (10 s by default). */
  stop(graceMs?: number): Promise<void>;
  exited: Promise<ProcessEnd>;
}

const stopGraceMs = 10_000;
/** The server takes more ports than can be configured, and others may take any of them just before. */
const maxStarts = 5;
const portTaken = /address already in use/;

/**
 * Starts the development server of the Temporal CLI and waits until its namespace responds. It does not share this terminal's
 * signals: the workers must be able to finish against it.
 *
 * @throws TemporalUnavailableError with the end of the server's log when it ends or does not respond in time
 * @throws PortInUseError when something listens on a requested port
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      const again = error instanceof TemporalUnavailableError && portTaken.test(error.message) && starts < maxStarts;
      if (!again) {
        throw error;
      }
      options.log.warn({ starts }, 'temporal server port taken, retrying with others');
    }
  }
}

async function startOnce(options: DevServerOptions): Promise<DevServer> {
  const { binary, dbFile, namespace, log, logFile = `${dbFile}.log`, startWithinMs = 60_000 } = options;
  // An existing server would respond instead of the new one, which would end only later: check first.
  const port = await claimPort(options.port ?? 0, 'the port of Temporal');
  const httpPort = await claimPort(options.httpPort ?? 0, 'the HTTP port of Temporal');
  const ui = options.ui ? await privateUiAddress() : undefined;
  await mkdir(dirname(dbFile), { recursive: true, mode: 0o700 });
  const child = await launchServer(binary, devServerArguments({ dbFile, namespace, port, httpPort, ui }), logFile);
  const address = `127.0.0.1:${port}`;
  const gone = new AbortController();
  void child.exited.then(() => gone.abort(new Error('The process ended.')));
  try {
    await awaitLocalNamespace(address, namespace, { withinMs: startWithinMs, signal: gone.signal });
  } catch (cause) {
    await child.stop(stopGraceMs);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TemporalUnavailableError(
      `The Temporal development server did not start: ${reason}\n${await tail(logFile)}(${logFile})`,
      { cause },
    );
  }
  const { pid, exited } = child;
  log.info({ address, serverPid: pid, dbFile }, 'temporal development server started');
  const stop = (graceMs = stopGraceMs) => child.stop(graceMs);
  return { address, httpAddress: `127.0.0.1:${httpPort}`, uiAddress: ui, pid, port, stop, exited };
}

async function launchServer(binary: string, args: string[], file: string): Promise<Child> {
  try {
    return await launch(binary, args, { environment: baseEnvironment(process.env), output: { file } });
  } catch (cause) {
    throw new TemporalUnavailableError(`The Temporal CLI ${binary} could not be started: ${String(cause)}`, { cause });
  }
}
