import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { nodePart } from '../../platform/processes/parts/node-part';
import { superviseProcess } from '../../platform/processes/parts/supervise-process';
import { partEnvironment, type Service, soonAgain } from '../support/stack/service';

/** One more worker on the host of the service, started again whenever it dies. */
export async function keepSecondWorker(service: Service, settings: Record<string, string>) {
  const part = nodePart({
    name: 'second-worker',
    script: join(__dirname, '..', '..', 'dist', 'worker', 'main.js'),
    environment: () => partEnvironment(service, settings),
    output: { file: join(service.dataDir, 'logs', 'second-worker.log') },
  });
  return superviseProcess(part, {
    log: createLog({ name: 'chaos', level: 'silent' }),
    backoff: soonAgain?.backoff ?? { firstMs: 100, maxMs: 500 },
    healthyAfterMs: 500,
    graceMs: 20_000,
  });
}
