import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type RunningService, startAll, type StartOptions } from '../../../scripts/start-all';
import { Caller } from '../caller';
import { testSettings } from '../settings';

/** The whole service as processes of their own, as `npm start` runs it, on a data directory of its own. */
export interface Service extends RunningService {
  dir: string;
  call: Caller;
  /** Ends everything, changes what lies in the data directory, and starts it all again. */
  restart(change: (dataDir: string) => Promise<void>): Promise<Service>;
  close(): Promise<void>;
}

type ServiceOptions = Pick<StartOptions, 'services' | 'restart' | 'ports'> & {
  /** The directory that its own is made in; the system's for temporary files when absent. */
  within?: string;
};

/** Parts that are killed again and again are started again without the pauses that spare a machine. */
export const soonAgain: StartOptions['restart'] = { backoff: { firstMs: 100, maxMs: 500 }, healthyAfterMs: 500 };

/** The machine's own settings of the service are not the test's. */
const inherited = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(BOARD_|TEMPORAL_|MONGODB_|RATE_LIMIT_)/.test(name)),
  );

/** The environment of one more part of the service, such as a second worker. */
export const partEnvironment = (
  { dataDir, temporalAddress }: RunningService,
  settings: Record<string, string> = {},
) => ({
  ...inherited(),
  ...testSettings,
  LOG_LEVEL: 'info',
  ...settings,
  BOARD_DATA_DIR: dataDir,
  TEMPORAL_ADDRESS: temporalAddress,
});

export async function startService(
  settings: Record<string, string> = {},
  options: ServiceOptions = {},
): Promise<Service> {
  const { within, ...startOptions } = options;
  const dir = await makeTempDir('service', within);
  return startIn(dir, settings, startOptions);
}

async function startIn(dir: TempDir, settings: Record<string, string>, options: ServiceOptions): Promise<Service> {
  try {
    const service = await startAll({
      environment: { ...inherited(), ...testSettings, LOG_LEVEL: 'info', ...settings },
      dataDir: join(dir.path, 'data'),
      ports: { api: 0 },
      ...options,
      quiet: true,
    });
    return {
      ...service,
      dir: dir.path,
      call: new Caller(service.apiUrl),
      restart: async (change) => {
        await service.stop();
        await service.ended;
        await change(service.dataDir);
        return startIn(dir, settings, options);
      },
      close: async () => {
        await service.stop();
        await dir.remove();
      },
    };
  } catch (error) {
    await dir.remove();
    throw error;
  }
}

/** Kills a part of a service. A part of no such name is an error: the process id 0 would be the tests' own group. */
export function killPart(service: RunningService, part: string): boolean {
  const pid = service.pids()[part];
  if (pid === undefined || pid <= 0) {
    throw new Error(`The service has no part ${part}; it has ${Object.keys(service.pids()).join(', ')}.`);
  }
  return process.kill(pid, 'SIGKILL');
}
