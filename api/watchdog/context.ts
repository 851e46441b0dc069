import type { WatchdogStore } from '../../stores/watchdog-store';
import type { RunsContext } from '../runs/context';

/** What the endpoints of the watchdog call. */
export interface WatchdogContext extends Pick<RunsContext, 'attempts' | 'events' | 'launcher'> {
  watchdog: WatchdogStore;
  now: () => Date;
}
