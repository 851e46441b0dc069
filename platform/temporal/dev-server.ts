import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log/log';
import { awaitNamespace } from './await-namespace';
import { devServerArguments } from './dev-server-arguments';
import { claimPort } from '../processes/claim-port';
import { TemporalUnavailableError } from './unavailable-error';

export interface DevServerOptions {
  /** Path of the Temporal CLI. */
  binary: string;
  /** SQLite file that holds every history; made when absent. */
  dbFile: string;
  namespace: string;
  log: Log;
  /** Frontend port; a free one for 0 or none. */
  port?: number;
  /** Port of the Temporal UI; a free one for 0 or none. */
  uiPort?: number;
  /** What the server prints is appended here; beside the database file when not given. */
  logFile?: string;
  /** How long it may take until the namespace answers, in milliseconds. */
  startWithinMs?: number;
}

export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A running development server. It listens on 127.0.0.1 only. */
export interface DevServer {
  address: string;
  uiUrl: string;
  pid: number;
  port: number;
  uiPort: number;
  /** SIGTERM, and SIGKILL when it does not end by itself. */
  stop(): Promise<void>;
  exited: Promise<ProcessEnd>;
}

const stopGraceMs = 10_000;

/**
 * Starts the development server of the Temporal CLI and waits until its namespace answers. It is a session of its own, so
 * that Ctrl-C in a terminal reaches us and not the server: the workers must be able to finish against it.
 *
 * @throws TemporalUnavailableError with the end of the server's log when it ends or does not answer in time
 * @throws PortInUseError when something listens on a port that was asked for
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { binary, dbFile, namespace, log, logFile = `${dbFile}.log`, startWithinMs = 60_000 } = options;
  // A server that is already there would answer in place of ours, which would end only later: look first.
  const port = await claimPort(options.port ?? 0, 'the port of Temporal');
  const uiPort = await claimPort(options.uiPort ?? 0, 'TEMPORAL_UI_PORT');
  await mkdir(dirname(dbFile), { recursive: true });
  const { child, exited } = await launch(binary, devServerArguments({ dbFile, namespace, port, uiPort }), logFile);
  const address = `127.0.0.1:${port}`;
  const stop = () => end(child, exited);

  const gone = new AbortController();
  void exited.then(() => gone.abort(new Error('The process ended.')));
  try {
    await awaitNamespace(address, namespace, { withinMs: startWithinMs, signal: gone.signal });
  } catch (cause) {
    await stop();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TemporalUnavailableError(
      `The Temporal development server did not start: ${reason}\n${await tail(logFile)}(${logFile})`,
      { cause },
    );
  }
  // A process that has an exit event has a pid: `launch` waited for its spawn.
  const pid = child.pid as number;
  log.info({ address, pid, dbFile }, 'temporal development server is up');
  return { address, uiUrl: `http://127.0.0.1:${uiPort}`, pid, port, uiPort, stop, exited };
}

/** Gives the server the log file itself, not a pipe, so that it outlives us without losing its output. */
async function launch(
  binary: string,
  args: string[],
  logFile: string,
): Promise<{ child: ChildProcess; exited: Promise<ProcessEnd> }> {
  await mkdir(dirname(logFile), { recursive: true });
  const output = await open(logFile, 'a');
  try {
    const child = spawn(binary, args, { detached: true, stdio: ['ignore', output.fd, output.fd] });
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve).once('error', reject);
    });
    return { child, exited };
  } catch (cause) {
    throw new TemporalUnavailableError(`The Temporal CLI ${binary} could not be started: ${String(cause)}`, { cause });
  } finally {
    await output.close();
  }
}

async function end(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const grace = new AbortController();
  await Promise.race([exited, delay(stopGraceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
  grace.abort();
  child.kill('SIGKILL');
  await exited;
}

async function tail(file: string, lines = 15): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .trimEnd()
    .split('\n')
    .slice(-lines)
    .map((line) => `  | ${line}\n`)
    .join('');
}
