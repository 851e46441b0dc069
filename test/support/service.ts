import { join } from 'node:path';
import { startAll, type RunningService } from '../../scripts/start-all';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { Caller } from './caller';

/** The whole service as processes of their own, as `npm start` runs it, on a data directory of its own. */
export interface Service extends RunningService {
  dir: string;
  call: Caller;
  /** Ends everything, changes what lies in the data directory, and starts it all again. */
  restart(change: (dataDir: string) => Promise<void>): Promise<Service>;
  close(): Promise<void>;
}

const testSettings = {
  BOARD_AUTH_ENABLED: 'false',
  BOARD_HEARTBEAT_TIMEOUT_MS: '2000',
  BOARD_STOP_GRACE_MS: '500',
  RATE_LIMIT_GLOBAL: '0',
  RATE_LIMIT_READ: '0',
  RATE_LIMIT_WRITE: '0',
  RATE_LIMIT_UPLOAD: '0',
  LOG_LEVEL: 'info',
};

/** The machine's own settings of the service are not the test's. */
const inherited = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(BOARD_|TEMPORAL_|MONGODB_|RATE_LIMIT_)/.test(name)),
  );

/** The environment of one more part of the service, a second worker say. */
export const partEnvironment = (
  { dataDir, temporalAddress }: RunningService,
  settings: Record<string, string> = {},
) => ({
  ...inherited(),
  ...testSettings,
  ...settings,
  BOARD_DATA_DIR: dataDir,
  TEMPORAL_ADDRESS: temporalAddress,
});

export async function startService(settings: Record<string, string> = {}): Promise<Service> {
  const dir = await makeTempDir('service');
  return startIn(dir, settings);
}

async function startIn(dir: TempDir, settings: Record<string, string>): Promise<Service> {
  try {
    const service = await startAll({
      environment: { ...inherited(), ...testSettings, ...settings },
      dataDir: join(dir.path, 'data'),
      ports: { api: 0, temporalUi: 0 },
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
        return startIn(dir, settings);
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
