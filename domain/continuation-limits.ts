import type { WatcherSettings } from '../contracts/settings/settings';

/** Why no run is continued by itself, whichever it is: nothing while the settings allow it. */
export const continuationsOff = ({
  enabled,
  globalKillSwitch,
}: Pick<WatcherSettings, 'enabled' | 'globalKillSwitch'>): string[] => [
  ...(enabled ? [] : ['Continuations are disabled (watcher.enabled).']),
  ...(globalKillSwitch ? ['The kill switch is on (watcher.globalKillSwitch).'] : []),
];

/** Why a run that was continued `count` times is not continued again; nothing below the cap. */
export const overContinuationCap = (
  { maxContinuationsPerRun }: Pick<WatcherSettings, 'maxContinuationsPerRun'>,
  count: number,
): string[] =>
  count >= maxContinuationsPerRun
    ? [`The run was continued ${count} times; the cap is ${maxContinuationsPerRun}.`]
    : [];
