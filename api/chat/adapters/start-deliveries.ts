import { errorMessage } from '../../../platform/errors/app-error';
import type { Closer } from '../../../platform/processes/closers';
import type { WorkflowContext } from '../../context';

interface SweepContext extends Pick<WorkflowContext, 'adapterDeliveries' | 'log' | 'now' | 'startDelivery'> {
  /** How often it is done, in milliseconds. */
  everyMs?: number;
}

const usuallyEveryMs = 15_000;
const pageSize = 200;
/** A delivery that was recorded more recently is being started by the process that recorded it, in milliseconds. */
const graceMs = 5_000;

/** Starts recorded deliveries whose process did not get to start them; the closer ends that. */
export async function startRecordedDeliveries(context: SweepContext): Promise<Closer> {
  const { adapterDeliveries, log, now, startDelivery, everyMs = usuallyEveryMs } = context;
  let sweeping: Promise<void> | undefined;
  let isClosed = false;

  async function sweep(): Promise<void> {
    try {
      const before = new Date(now().getTime() - graceMs).toISOString();
      for (const delivery of await adapterDeliveries.listUnstarted(before, pageSize)) {
        if (isClosed) {
          return;
        }
        await startDelivery(delivery);
        await adapterDeliveries.markStarted(delivery.id);
      }
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'adapter delivery start deferred');
    }
  }

  const timer = setInterval(() => {
    sweeping ??= sweep().finally(() => (sweeping = undefined));
  }, everyMs);
  await Promise.resolve();
  return async () => {
    isClosed = true;
    clearInterval(timer);
    await sweeping;
  };
}
