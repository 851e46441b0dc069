import { join } from 'node:path';
import { nodePart } from '../../../platform/processes/parts/node-part';
import type { RunningPart } from '../../../platform/processes/parts/part';
import { eventually } from '../../../platform/testing/eventually';

/**
 * Starts one more worker as a process of its own, which is not restarted; resolves when it works.
 *
 * @param options.environment the whole of it
 * @param options.logFile where it writes its log
 */
export async function startWorkerProcess({
  environment,
  logFile,
}: {
  environment: NodeJS.ProcessEnv;
  logFile: string;
}): Promise<RunningPart> {
  const part = nodePart({
    name: 'worker',
    script: join(__dirname, '..', '..', '..', 'dist', 'worker', 'main.js'),
    environment: () => environment,
    output: { file: logFile },
  });
  const started = await part.start();
  await eventually(() => {
    if (!part.isReady()) {
      throw new Error('the worker is not ready');
    }
  });
  return started;
}
