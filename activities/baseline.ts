import type { TaskEnvelope } from '../contracts/run-contract';
import type { Baseline } from '../providers/git/baseline';
import type { AttemptRecord } from '../stores/attempt-store';

/** The baseline of an attempt as git works with it: from its envelope, with the snapshot of a dirty one. */
export const baselineOf = (record: AttemptRecord, workspace: NonNullable<TaskEnvelope['workspace']>): Baseline => ({
  ...workspace.baseline,
  branch: workspace.branch,
  ...(record.baselineSnapshot ? { snapshot: record.baselineSnapshot } : {}),
});
