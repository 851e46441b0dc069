import { createWatchdogStore } from '../../stores/watchdog-store';
import type { OpenArea } from '../durable-context';
import type { WatchdogContext } from './context';
import { watchdogRoutes } from './routes';

export const openWatchdog: OpenArea = async ({ database, now, runs }) => {
  const context: WatchdogContext = { ...runs, watchdog: await createWatchdogStore(database), now };
  return (routes) => watchdogRoutes(routes, context);
};
