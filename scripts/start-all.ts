import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Environment, readEnvironment } from '../platform/config/env';
import { environmentOfPart } from '../platform/config/part-settings';
import { withSecretFiles } from '../platform/config/secret-files';
import { type SmallService, smallServices } from '../platform/config/settings/start';
import { isDiskFull, namingFullDisk } from '../platform/errors/disk-full';
import { fileDestination, openLogFile } from '../platform/log/file-destination';
import { createLog, type Log } from '../platform/log/log';
import { claimDataDirectory } from '../platform/processes/data-directory';
import { awaitSpace } from '../platform/processes/disk/await-space';
import { claimPort } from '../platform/processes/parts/claim-port';
import { type NodePart, nodePart } from '../platform/processes/parts/node-part';
import type { Part } from '../platform/processes/parts/part';
import { supervise, type SuperviseOptions, type Supervision } from '../platform/processes/parts/supervisor';
import { tail } from '../platform/processes/parts/tail';
import { endStoppedLockHolders } from '../platform/processes/stopped-lock-holders';
import { findTemporalBinary } from '../platform/temporal/embedded/binary';
import { embeddedServer } from '../platform/temporal/embedded/embedded-server';
import type { Report } from '../platform/temporal/embedded/progress';
import { temporalSecurity } from '../platform/temporal/security';
import { unreachableReason } from '../platform/temporal/unreachable-reason';
import { databaseName } from '../stores/port/database-name';
import { shellWord } from './banner';

export interface StartOptions {
  /** Instead of the process environment. */
  environment?: NodeJS.ProcessEnv;
  /** Instead of `BOARD_DATA_DIR`. */
  dataDir?: string;
  /** Instead of `BOARD_PORT` and `TEMPORAL_UI_PORT`; 0 is a free one. Temporal has no UI unless one of the two names a port. */
  ports?: { api?: number; temporalUi?: number };
  /** Instead of `SERVICES`: the small services that run beside the board. */
  services?: readonly SmallService[];
  /** Receives lines for a person: what takes long, and what is missing. Into the log when absent. */
  report?: Report;
  /** Nothing on our own output: each part, and the supervisor, write to `<dataDir>/logs`. */
  quiet?: boolean;
  /** Ends the starting; the call rejects with its reason. */
  signal?: AbortSignal;
  /** How soon a part that died is started again, and when it counts as healthy; usual ones unless given. */
  restart?: Pick<SuperviseOptions, 'backoff' | 'healthyAfterMs'>;
  /** How long the parts may take to be ready, in milliseconds. */
  readyWithinMs?: number;
}

/** The setting with the port of each small service; its part and its folder have its name. */
const servicePort = {
  bitmap: 'BITMAP_PORT',
  plants: 'PLANTS_PORT',
  'workflow-runs': 'WORKFLOW_RUNS_PORT',
} as const satisfies Record<SmallService, string>;

/** Settings without which a small service is of no use: one that is set requests the service. */
const serviceSettings = {
  bitmap: 'BITMAP_TOKEN',
  plants: 'PLANTS_TOKENS',
  'workflow-runs': 'WORKFLOW_RUNS_JWT_PUBLIC_KEY',
} as const satisfies Record<SmallService, string>;

/** The whole service while it runs. */
export interface RunningService {
  apiUrl: string;
  /** Of the page for browsers; absent while it is turned off. */
  pageUrl?: string | undefined;
  /** Only for an embedded server that was asked for its UI: another one's is its operator's to know. */
  temporalUiUrl?: string;
  temporalAddress: string;
  /** A command that lists the workflows of this service. */
  temporalCommand: string;
  /** What is set for small services that are not started. */
  unusedSettings: { setting: string; service: SmallService }[];
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
 * @throws EnvironmentError, PortInUseError, ListenError, DataDirectoryError, DataDirectoryInUseError, DiskFullError, TemporalUnavailableError, PartNotReadyError
 */
export async function startAll(options: StartOptions = {}): Promise<RunningService> {
  const variables = options.environment ?? process.env;
  const settings = readEnvironment(variables);
  const dataDir = resolve(options.dataDir ?? settings.BOARD_DATA_DIR);
  const apiPort = await claimPort(options.ports?.api ?? settings.BOARD_PORT, 'BOARD_PORT', settings.BOARD_HOST);
  const servicePorts = new Map<SmallService, number>();
  const requested = options.services ?? settings.SERVICES;
  for (const name of requested) {
    const port = servicePort[name];
    servicePorts.set(name, await claimPort(settings[port], port, settings.BOARD_HOST));
  }
  const logFile = options.quiet ? (name: string) => join(dataDir, 'logs', `${name}.log`) : undefined;
  const logOfStart = () => supervisorLog(settings.LOG_LEVEL, logFile?.('supervisor'));
  await awaitSpace(dataDir, { log: withoutDisk(logOfStart), signal: options.signal });
  const release = await namingFullDisk(`the data directory ${dataDir}`, () => claimDataDirectory(dataDir));
  const log = logOfStart();

  const report: Report = options.report ?? ((line) => log.info(line));

  try {
    const binary = settings.TEMPORAL_ADDRESS ? undefined : await findTemporalBinary({ environment: variables, report });
    const unreachable = watchConfigured(settings, { report, signal: options.signal });
    const temporal =
      binary === undefined
        ? undefined
        : embeddedServer({
            binary,
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
      BOARD_TOOL_BRIDGE_URL: filled.BOARD_TOOL_BRIDGE_URL ?? `http://127.0.0.1:${apiPort}`,
      ...Object.fromEntries([...servicePorts].map(([name, port]) => [servicePort[name], String(port)])),
      TEMPORAL_ADDRESS: temporalAddress(),
      TEMPORAL_HTTP_ADDRESS: settings.TEMPORAL_HTTP_ADDRESS ?? temporal?.httpAddress(),
    });
    const services = [...servicePorts.keys()].map((name) => ({ name, folder: `services/${name}` }));
    const board = (['worker', 'api'] as const).map((name) => ({ name, folder: name }));
    const programs = [...board, ...services].map(({ name, folder }) => {
      const file = logFile?.(name);
      return nodePart({
        name,
        script: entryPoint(folder),
        environment: () => environmentOfPart(name, environment()),
        system: environmentOfPart(name, filled),
        output: file ? { file } : 'inherit',
      });
    });
    const supervision = await superviseAll(temporal, programs, {
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
    await untilReady(programs, supervision, { ...options, logFile, unreachable });
    const urlOf = (port: number): string => `http://${urlHost(settings.BOARD_HOST)}:${port}`;
    const releaseAtEnd = async () => {
      try {
        return await supervision.ended;
      } finally {
        unwatch();
        await release();
      }
    };
    return {
      apiUrl: urlOf(apiPort),
      pageUrl: settings.BOARD_PAGE ? `${urlOf(apiPort)}/` : undefined,
      serviceUrls: Object.fromEntries([...servicePorts].map(([name, port]) => [name, urlOf(port)])),
      temporalUiUrl: temporal?.uiUrl(),
      temporalAddress: temporalAddress(),
      temporalCommand: [binary ?? 'temporal', ...listWorkflows(temporalAddress(), settings)].map(shellWord).join(' '),
      unusedSettings: smallServices
        .filter((service) => !requested.includes(service))
        .map((service) => ({ service, setting: serviceSettings[service] }))
        .filter(({ setting }) => settings[setting]?.length),
      dataDir,
      pids: () => supervision.pids(),
      stop: () => supervision.stop(),
      ended: releaseAtEnd(),
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Starts Temporal, where it is embedded, and then the programs, which load their code meanwhile. */
async function superviseAll(
  temporal: Part | undefined,
  programs: readonly NodePart[],
  options: SuperviseOptions,
): Promise<Supervision> {
  if (temporal === undefined) {
    return supervise(programs, options);
  }
  try {
    await Promise.all(programs.map((program) => program.prepare()));
    return await supervise([temporal, ...programs], options);
  } catch (error) {
    await Promise.all(programs.map((program) => program.discard()));
    throw error;
  }
}

const listWorkflows = (address: string, { TEMPORAL_NAMESPACE: namespace }: Environment): string[] => [
  ...['workflow', 'list', '--address', address, '--namespace', namespace],
];

/**
 * Reports within ten seconds that a configured Temporal server does not respond; the parts go on trying.
 *
 * @returns why it did not respond, once that is known
 */
function watchConfigured(
  settings: Environment,
  { report, signal }: { report: Report; signal: AbortSignal | undefined },
): () => string | undefined {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = settings;
  let reason: string | undefined;
  if (address !== undefined) {
    void unreachableReason({ address, namespace, security: temporalSecurity(settings), signal }).then(
      (found) => {
        reason = found;
        if (found !== undefined) {
          report(found);
        }
      },
      // The start was cancelled.
      () => undefined,
    );
  }
  return () => reason;
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
  unreachable: () => string | undefined;
}

/** Waits until every part reports that it is ready; ends all of them when one does not. */
async function untilReady(parts: NodePart[], supervision: Supervision, options: ReadyOptions): Promise<void> {
  const { readyWithinMs = 90_000, signal, logFile, unreachable } = options;
  const state = { ended: false };
  void supervision.ended.then(() => (state.ended = true));
  const deadline = performance.now() + readyWithinMs;
  for (;;) {
    const waitingFor = parts.find((part) => !part.isReady());
    if (!waitingFor) {
      return;
    }
    if (state.ended || signal?.aborted || performance.now() >= deadline) {
      const what = state.ended ? 'ended instead of becoming ready' : `was not ready within ${readyWithinMs} ms`;
      await supervision.stop();
      signal?.throwIfAborted();
      // The others were ended for it.
      const name = supervision.misconfigured() ?? waitingFor.name;
      const printed = logFile ? await tail(logFile(name)) : '';
      throw new PartNotReadyError(
        [`The ${name} ${what}.`, unreachable(), printed].filter(Boolean).join('\n').trimEnd(),
      );
    }
    await delay(25);
  }
}
