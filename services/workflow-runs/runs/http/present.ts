import type { RunRecord } from '../run';
import type { RunAnswer } from './contracts';

/** A run as its callers see it. */
export function presentRun(run: RunRecord, queuePosition?: number): RunAnswer {
  const { _id, status, title, workflow, error, created_at, started_at, ended_at } = run;
  return {
    id: _id,
    status,
    title,
    workflow,
    ...(error && { error }),
    ...(queuePosition !== undefined && { queue_position: queuePosition }),
    created_at,
    ...(started_at !== undefined && { started_at }),
    ...(ended_at !== undefined && { ended_at }),
  };
}
