import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { findCommand } from '../../platform/processes/find-command';
import { findTemporalBinary } from '../../platform/temporal/embedded/binary';
import { startDevServer } from '../../platform/temporal/embedded/dev-server';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { keepForTeardown } from './stack/shared-server';

/** Tests that start the service as processes run the code in `dist/`: it must match the sources. */
function buildWhatIsStale(): void {
  const script = join(__dirname, '..', '..', 'scripts', 'ensure-built.mjs');
  const { status } = spawnSync(process.execPath, [script], { stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    throw new Error('The build failed, see above.');
  }
}

/** Names the packages that tests need and Node does not bring, before a run of many minutes fails for one of them. */
function nameMissingPrograms(): void {
  const programs = { git: 'git', ...(process.platform === 'linux' ? { bwrap: 'bubblewrap' } : {}) };
  for (const [program, name] of Object.entries(programs)) {
    const found = findCommand(program, process.env.PATH ?? '');
    if (!('path' in found)) {
      process.stderr
        .write(`${program} is not there: the tests that need it will fail. Install it, for example by: apt-get install ${name}
`);
    }
  }
}

/**
 * Builds, and starts the one Temporal server that all test files share, with a database file of its own. Test files
 * find it through `testTemporal()`. Anything that goes wrong here fails the whole run: a suite that skips Temporal proves nothing.
 */
export default async function globalSetup(): Promise<void> {
  nameMissingPrograms();
  buildWhatIsStale();
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
    process.env.TEST_TEMPORAL_HTTP_ADDRESS = server.httpAddress;
  } catch (error) {
    await directory.remove();
    throw error;
  }
}
