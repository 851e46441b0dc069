import { createLog } from '../../platform/log/log';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { findTemporalBinary } from '../../platform/temporal/binary';
import { startDevServer } from '../../platform/temporal/dev-server';
import { keepForTeardown } from './shared-server';

/**
 * Starts the one Temporal server that all test files share, with a database file of its own. Test files find it through
 * `testTemporal()`. Anything that goes wrong here fails the whole run: a suite that skips Temporal proves nothing.
 */
export default async function globalSetup(): Promise<void> {
  const binary = await findTemporalBinary({ report: (line) => process.stderr.write(`${line}\n`) });
  const directory = await makeTempDir('temporal');
  const log = createLog({ name: 'test-temporal', level: 'warn' });
  try {
    const server = await startDevServer({
      binary,
      dbFile: `${directory.path}/temporal.db`,
      namespace: 'default',
      log,
    });
    keepForTeardown({ server, directory });
    process.env.TEST_TEMPORAL_ADDRESS = server.address;
  } catch (error) {
    await directory.remove();
    throw error;
  }
}
