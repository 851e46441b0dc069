import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Environment, readEnvironment } from '../platform/config/env';
import { environmentOfPart } from '../platform/config/part-settings';
import { withSecretFiles } from '../platform/config/secret-files';
import { isDiskFull, namingFullDisk } from '../platform/errors/disk-full';
import { fileDestination, openLogFile } from '../platform/log/file-destination';
import { createLog, type Log } from '../platform/log/log';
import { claimDataDirectory } from '../platform/processes/data-directory';
import { awaitSpace } from '../platform/processes/disk/await-space';
import { claimPort } from '../platform/processes/parts/claim-port';
import { type NodePart, nodePart } from '../platform/processes/parts/node-part';
import { supervise, type SuperviseOptions, type Supervision } from '../platform/processes/parts/supervisor';
import { tail } from '../platform/processes/parts/tail';
import { endStoppedLockHolders } from '../platform/processes/stopped-lock-holders';
import { findTemporalBinary } from '../platform/temporal/embedded/binary';
import { embeddedServer } from '../platform/temporal/embedded/embedded-server';
import { databaseName } from '../stores/port/open';

export interface StartOptions {
  /** Instead of the process environment. */
  environment?: NodeJS.ProcessEnv;
  /** Instead of `BOARD_DATA_DIR`. */
  dataDir?: string;
  /** Instead of `BOARD_PORT` and `TEMPORAL_UI_PORT`; 0 is a free one. Temporal has no UI unless one of the two names a port. */
  ports?: { api?: number; temporalUi?: number };
  /** The small services that run beside the board; none unless named. */
  services?: readonly SmallService[];
  /** Nothing on our own output: each part, and the supervisor, write to `<dataDir>/logs`. */
  quiet?: boolean;
  /** Ends the starting; the call rejects with its reason. */
  signal?: AbortSignal;
  /** How soon a part that died is started again, and when it counts as healthy; usual ones unless given. */
  restart?: Pick<SuperviseOptions, 'backoff' | 'healthyAfterMs'>;
  /** How long the parts may take to be ready, in milliseconds. */
  readyWithinMs?: number;
}

/** What runs beside the board: the setting with its port, and its part, which is its folder. */
const smallServices = {
  bitmap: { port: 'BITMAP_PORT', part: 'bitmap' },
  plants: { port: 'PLANTS_PORT', part: 'plants' },
  workflowRuns: { port: 'WORKFLOW_RUNS_PORT', part: 'workflow-runs' },
} as const;
export type SmallService = keyof typeof smallServices;
export const everySmallService = Object.keys(smallServices) as SmallService[];

/** The whole service while it runs. */
export interface RunningService {
  apiUrl: string;
  /** Only for an embedded server that was asked for its UI: another one's is its operator's to know. */
  temporalUiUrl?: string;
  temporalAddress: string;
  /** Where each small service listens. */
  serviceUrls: Partial<Record<SmallService, string>>;
  dataDir: string;
  /** Process ids by part: `temporal` (when embedded), `worker`, `api`, the small services. They change when a part is started again. */
  pids(): Record<string, number>;
  /** Ends everything: api, worker, Temporal. */
  stop(): Promise<void>;
  /** Resolves with the exit code when everything has ended. */
  ended: Promise<number>;
}

/** A part did not become ready; the message holds the end of what it printed, where that is known. */
export class PartNotReadyError extends Error {
  override readonly name = 'PartNotReadyError';
}

/**
 * Starts Temporal (unless `TEMPORAL_ADDRESS` names one), a worker, the api and the small services asked for, each as a
 * process of its own that is started again when it dies, and resolves when all of them are ready.
 *
 * On a disk that is full it waits for space first, and logs so.
 *
 * @throws EnvironmentError, PortInUseError, DataDirectoryInUseError, DiskFullError, TemporalUnavailableError, PartNotReadyError
 */
export async function startAll(options: StartOptions = {}): Promise<RunningService> {
  const variables = options.environment ?? process.env;
  const settings = readEnvironment(variables);
  const dataDir = resolve(options.dataDir ?? settings.BOARD_DATA_DIR);
  const apiPort = await claimPort(options.ports?.api ?? settings.BOARD_PORT, 'BOARD_PORT', settings.BOARD_HOST);
  const servicePorts = new Map<SmallService, number>();
  for (const name of options.services ?? []) {
    const { port } = smallServices[name];
    servicePorts.set(name, await claimPort(settings[port], port, settings.BOARD_HOST));
  }
  const logFile = options.quiet ? (name: string) => join(dataDir, 'logs', `${name}.log`) : undefined;
  const logOfStart = () => supervisorLog(settings.LOG_LEVEL, logFile?.('supervisor'));
  await awaitSpace(dataDir, { log: withoutDisk(logOfStart), signal: options.signal });
  const release = await namingFullDisk(`the data directory ${dataDir}`, () => claimDataDirectory(dataDir));
  const log = logOfStart();

  try {
    const temporal = settings.TEMPORAL_ADDRESS
      ? undefined
      : embeddedServer({
          binary: await findTemporalBinary({ environment: variables, report: (line) => log.info(line) }),
          dataDir,
          namespace: settings.TEMPORAL_NAMESPACE,
          uiPort: options.ports?.temporalUi ?? settings.TEMPORAL_UI_PORT,
          log,
        });
    const temporalAddress = () => settings.TEMPORAL_ADDRESS ?? temporal?.address() ?? '';
    // Files of secrets are read here, once: a part is handed what it needs of them.
    const { environment: filled } = withSecretFiles(variables);
    const environment = () => ({
      ...filled,
      BOARD_DRAIN_MS: String(drainMs(variables, settings)),
      BOARD_DATA_DIR: dataDir,
      BOARD_PORT: String(apiPort),
      ...Object.fromEntries([...servicePorts].map(([name, port]) => [smallServices[name].port, String(port)])),
      TEMPORAL_ADDRESS: temporalAddress(),
      TEMPORAL_HTTP_ADDRESS: settings.TEMPORAL_HTTP_ADDRESS ?? temporal?.httpAddress(),
    });
    const services = [...servicePorts.keys()].map((name) => {
      const { part } = smallServices[name];
      return { name, part, folder: `services/${part}` } as const;
    });
    const board = (['worker', 'api'] as const).map((name) => ({ name, part: name, folder: name }) as const);
    const programs = [...board, ...services].map(({ name, part, folder }) => {
      const file = logFile?.(name);
      return nodePart({
        name,
        script: entryPoint(folder),
        environment: () => environmentOfPart(part, environment()),
        output: file ? { file } : 'inherit',
      });
    });
    const parts = [...(temporal ? [temporal] : []), ...programs];
    const supervision = await supervise(parts, {
      log,
      graceMs: drainMs(variables, settings) + settings.BOARD_STOP_GRACE_MS + partGraceMs,
      signal: options.signal,
      ...options.restart,
    });
    const unwatch = endStoppedLockHolders({
      database: join(dataDir, databaseName),
      pids: () => Object.values(supervision.pids()),
      log,
    });
    await untilReady(programs, supervision, { ...options, logFile });
    const urlOf = (port: number): string => `http://${urlHost(settings.BOARD_HOST)}:${port}`;
    return {
      apiUrl: urlOf(apiPort),
      serviceUrls: Object.fromEntries([...servicePorts].map(([name, port]) => [name, urlOf(port)])),
      temporalUiUrl: temporal?.uiUrl(),
      temporalAddress: temporalAddress(),
      dataDir,
      pids: () => supervision.pids(),
      stop: () => supervision.stop(),
      ended: supervision.ended.finally(() => {
        unwatch();
        return release();
      }),
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** How long the worker waits for its agents: not at all, unless it was asked to, so that Ctrl-C is quick. */
const drainMs = (environment: NodeJS.ProcessEnv, { BOARD_DRAIN_MS }: Environment): number =>
  environment.BOARD_DRAIN_MS ? BOARD_DRAIN_MS : 0;

/** What a worker takes to end besides ending its agents. */
const partGraceMs = 20_000;

/** The compiled entry point of a part, whether this file runs compiled or under a test runner. */
function entryPoint(folder: string): string {
  const parent = dirname(__dirname);
  const script = join(parent, basename(parent) === 'dist' ? '' : 'dist', folder, 'main.js');
  if (!existsSync(script)) {
    throw new PartNotReadyError(`${script} is missing. Run \`npm run build\`.`);
  }
  return script;
}

function supervisorLog(level: string, file: string | undefined): Log {
  if (!file) {
    return createLog({ name: 'start', level });
  }
  return createLog({ name: 'start', level }, fileDestination(openLogFile(file)));
}

/** The log of a start; without a line of it where its own file cannot be made, because the disk is full. */
function withoutDisk(open: () => Log): Log {
  try {
    return open();
  } catch (error) {
    if (!isDiskFull(error)) {
      throw error;
    }
    return createLog({ name: 'start', level: 'silent' });
  }
}

/** A wildcard address is one to listen on, not one to open. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') {
    return '127.0.0.1';
  }
  return host.includes(':') ? `[${host}]` : host;
}

interface ReadyOptions {
  readyWithinMs?: number;
  signal?: AbortSignal;
  logFile?: (part: string) => string;
}

/** Waits until every part reports that it is ready; ends all of them when one does not. */
async function untilReady(parts: NodePart[], supervision: Supervision, options: ReadyOptions): Promise<void> {
  const { readyWithinMs = 90_000, signal, logFile } = options;
  const state = { ended: false };
  void supervision.ended.then(() => (state.ended = true));
  const deadline = performance.now() + readyWithinMs;
  for (;;) {
    const waitingFor = parts.find((part) => !part.isReady());
    if (!waitingFor) {
      return;
    }
    if (state.ended || signal?.aborted || performance.now() >= deadline) {
      await supervision.stop();
      signal?.throwIfAborted();
      const printed = logFile ? await tail(logFile(waitingFor.name)) : '';
      const what = state.ended ? 'ended instead of becoming ready' : `was not ready within ${readyWithinMs} ms`;
      throw new PartNotReadyError(`The ${waitingFor.name} ${what}.\n${printed}`.trimEnd());
    }
    await delay(25);
  }
}
