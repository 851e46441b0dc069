import '../platform/processes/parts/preload';
import { join } from 'node:path';
import { environmentOrExit, orExit } from '../platform/config/process-environment';
import { createLog } from '../platform/log/log';
import { CatalogError } from '../platform/models/catalog';
import { DataDirectoryError } from '../platform/processes/data-directory';
import { closeInheritedDescriptors } from '../platform/processes/environment/inherited-descriptors';
import { makeFilesPrivate } from '../platform/processes/operator-umask';
import { announceReady, endInOrder } from '../platform/processes/parts/lifecycle';
import { configurationErrorExitCode } from '../platform/processes/parts/part';
import { temporalSecurity } from '../platform/temporal/security';
import { openTracing } from '../platform/tracing/open';
import { AgentUserError } from '../providers/agents/user/agent-user';
import { LaterFormatError } from '../stores/port/format';
import { type RunningWorker, startWorker } from './start';

/** The bundles that `npm run build` leaves beside the compiled code. */
const bundles = { 'auto-upgrade': 'workflow-bundle.js', pinned: 'pinned-workflow-bundle.js' };

async function main(): Promise<void> {
  makeFilesPrivate();
  const env = environmentOrExit('worker');
  closeInheritedDescriptors();
  orExit(() => temporalSecurity(env));
  const log = createLog({ name: 'worker', level: env.LOG_LEVEL });
  const closeTracing = await openTracing(env, 'worker', log);
  const starting = new AbortController();
  const started: { worker?: RunningWorker } = {};
  endInOrder({
    log,
    withinMs: env.BOARD_DRAIN_MS + env.BOARD_STOP_GRACE_MS + 15_000,
    close: async () => {
      starting.abort(new Error('The worker is ending.'));
      await started.worker?.close();
      await closeTracing();
    },
    skipDrain: () => started.worker?.skipDrain(),
  });
  const codePath = join(__dirname, '..', bundles[env.BOARD_WORKER_VERSIONING]);
  const worker = await startWorker(env, log, { workflowBundle: { codePath }, signal: starting.signal }).catch(
    (error: unknown) => {
      const isMisconfigured =
        error instanceof AgentUserError ||
        error instanceof CatalogError ||
        error instanceof DataDirectoryError ||
        error instanceof LaterFormatError;
      if (!isMisconfigured) {
        throw error;
      }
      process.stderr.write(`${error.message}\n`);
      process.exit(configurationErrorExitCode);
    },
  );
  started.worker = worker;
  announceReady();
  await worker.ended;
}

void main();
