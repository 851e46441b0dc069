/** A replica of the API, in production but without limits and keys, and without Temporal. */
import { startApi } from '../../api/start';
import { readEnvironment } from '../../platform/config/env';
import { createLog } from '../../platform/log/log';
import { openService } from '../service';
import { argumentOf } from './children';

async function main(): Promise<void> {
  const { dataDir, maxWatchers } = argumentOf() as { dataDir: string; maxWatchers: number };
  const env = readEnvironment({
    ...openService,
    BOARD_PORT: '0',
    BOARD_DATA_DIR: dataDir,
    BOARD_MAX_WATCHERS: String(maxWatchers),
    BOARD_WATCHERS_PER_ADDRESS: String(maxWatchers),
    ...(process.env.MONGODB_URL === undefined ? {} : { MONGODB_URL: process.env.MONGODB_URL }),
  });
  const api = await startApi(env, createLog({ name: 'bench', level: 'warn' }));
  process.once('disconnect', () => void api.close().then(() => process.exit(0)));
  process.send?.(api.url);
}

void main();
