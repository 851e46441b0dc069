import type { AttemptState } from '../../contracts/runs/attempt';
import type { StepTimes } from '../../contracts/runs/trace';

/** Which times of an attempt are recorded with its change to a step: none while tracing is disabled. */
export type RecordedSteps = (step: AttemptState) => Promise<StepTimes>;

/** The setting of the workspace. */
export interface TracingSettings {
  read(): Promise<{ features: { tracing: { enabled: boolean } } }>;
}

interface Tracing {
  settings: TracingSettings;
  now?: () => Date;
}

/** Records the time of each step while the setting of the workspace has tracing enabled. */
export const createStepTimes =
  ({ settings, now = () => new Date() }: Tracing): RecordedSteps =>
  async (step) =>
    (await settings.read()).features.tracing.enabled ? { [step]: now().toISOString() } : {};

/** The update of these times in a record that has them under `steps`. */
export const stepUpdate = (times: StepTimes): Record<string, string> =>
  Object.fromEntries(Object.entries(times).map(([step, at]) => [`steps.${step}`, at]));
