import { rmSync } from 'node:fs';
import type { DevServer } from '../../../platform/temporal/embedded/dev-server';
import type { TempDir } from '../../../platform/testing/temp-dir';

/** What the global setup leaves for the global teardown: both run in jest's parent process. */
interface SharedServer {
  server: DevServer;
  directory: TempDir;
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const holder = globalThis as typeof globalThis & { runboardSharedServer?: SharedServer };

/** Remembers the server, and ends it also when jest is interrupted, which skips the teardown. */
export function keepForTeardown(shared: SharedServer): void {
  holder.runboardSharedServer = shared;
  process.once('exit', endAtOnce);
  for (const signal of endings) {
    process.once(signal, () => {
      endAtOnce();
      process.kill(process.pid, signal);
    });
  }
}

/** Ends the server in the ordinary way, if the setup came so far. */
export async function endSharedServer(): Promise<void> {
  const shared = holder.runboardSharedServer;
  delete holder.runboardSharedServer;
  await shared?.server.stop();
  await shared?.directory.remove();
}

/** Nothing asynchronous runs in an exit handler. */
function endAtOnce(): void {
  const shared = holder.runboardSharedServer;
  if (!shared) {
    return;
  }
  delete holder.runboardSharedServer;
  process.kill(shared.server.pid, 'SIGKILL');
  rmSync(shared.directory.path, { recursive: true, force: true });
}
