import type { WorkflowContext } from '../../context';

/** What the endpoints of the watchdog use. */
export type WatchdogContext = Pick<WorkflowContext, 'attempts' | 'events' | 'now' | 'runLauncher' | 'watchdog'>;
