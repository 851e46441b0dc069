export { overrideKey, watchdogActor, watchdogKey, type WatchedEvent } from './observation';
export { observationRequest, recordsOf, type WatchdogRecords } from './records';
export { defaultWatchdogSettings, type WatchdogSettings } from './settings';
export { ProgressWatch, type Sighting } from './watch';
