import '../platform/processes/parts/preload';
import { EnvironmentError } from '../platform/config/env';
import { DiskFullError } from '../platform/errors/disk-full';
import { ListenError } from '../platform/http/server/listen-error';
import { createLog } from '../platform/log/log';
import { DataDirectoryError, DataDirectoryInUseError } from '../platform/processes/data-directory';
import { closeInheritedDescriptors } from '../platform/processes/environment/inherited-descriptors';
import { makeFilesPrivate } from '../platform/processes/operator-umask';
import { PortInUseError } from '../platform/processes/parts/claim-port';
import { configurationErrorExitCode } from '../platform/processes/parts/part';
import { TemporalUnavailableError } from '../platform/temporal/unavailable-error';
import { banner } from './banner';
import { PartNotReadyError, type RunningService, startAll } from './start-all';

/** Errors that the user can correct: reported in a sentence, without a stack. */
const expected = [
  EnvironmentError,
  PortInUseError,
  DataDirectoryError,
  DataDirectoryInUseError,
  ListenError,
  TemporalUnavailableError,
  PartNotReadyError,
];

class Interrupted extends Error {}

/** Runs the whole service until it is asked to stop. */
async function main(): Promise<number> {
  makeFilesPrivate();
  closeInheritedDescriptors();
  const stopping = new AbortController();
  let service: RunningService | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Once: asked a second time, it ends at once.
    process.once(signal, () => {
      stopping.abort(new Interrupted(signal));
      void service?.stop();
    });
  }
  try {
    service = await startAll({ signal: stopping.signal, report: (line) => console.error(`start: ${line}`) });
  } catch (error) {
    if (error instanceof Interrupted) {
      return 0;
    }
    if (error instanceof DiskFullError) {
      console.error(error.message);
      return 1;
    }
    if (!expected.some((kind) => error instanceof kind)) {
      throw error;
    }
    console.error((error as Error).message);
    return configurationErrorExitCode;
  }
  console.log(banner(service));
  return service.ended;
}

/** The parts end with this process, in order: each of them notices that its supervisor is gone. */
function fail(error: unknown): void {
  createLog({ name: 'start', level: 'fatal' }).fatal({ err: error }, 'supervisor failed');
  process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

void main().then((code) => {
  process.exitCode = code;
});
