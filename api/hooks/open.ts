import { createHookExecutionStore, createHookStore } from '../../stores/hook-store';
import { createTaskStandingStore } from '../../stores/task-standing-store';
import { usualHookTimings } from '../../workflows/task-transition/messages';
import type { Closer } from '../closers';
import type { Area } from '../context';
import type { DurableContext } from '../durable-context';
import { hookRoutes } from './routes';
import { TransitionWatcher } from './transitions';

/** Opens hooks, and begins to notice what they wait for. */
export async function openHooks(context: DurableContext, closers: Closer[]): Promise<Area> {
  const { database } = context;
  const onHooks = {
    ...context,
    hooks: await createHookStore(database),
    executions: await createHookExecutionStore(database),
    standings: await createTaskStandingStore(database),
    timings: { ...usualHookTimings, firstPauseMs: context.env.BOARD_RETRY_BACKOFF_MS },
  };
  const watcher = new TransitionWatcher(onHooks);
  await watcher.start();
  closers.push(() => watcher.stop());
  return (routes) => hookRoutes(routes, onHooks);
}
