import { compact } from '../../../../platform/json/compact';
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
    ...compact({ error, queue_position: queuePosition }),
    created_at,
    ...compact({ started_at, ended_at }),
  };
}
