import { compact } from '../../../../platform/json/compact';
import type { RunRecord } from '../run';
import type { RunStore } from '../store';
import type { RunAnswer } from './contracts';

/** Presents runs as their callers see them, with their places among those that wait. */
export const runPresenter =
  ({ runs, now }: { runs: Pick<RunStore, 'queuePosition'>; now: () => Date }) =>
  async (run: RunRecord): Promise<RunAnswer> => {
    const queuePosition = run.status === 'queued' ? await runs.queuePosition(run._id) : 0;
    // A run that was started since its record was read has no place in the queue any more.
    return presentRun(run, { now: now(), ...(queuePosition > 0 && { queuePosition }) });
  };

function presentRun(run: RunRecord, { now, queuePosition }: { now: Date; queuePosition?: number }): RunAnswer {
  const { _id, status, title, workflow, error, created_at, started_at, ended_at, questions, parent } = run;
  const elapsedMs =
    started_at && (ended_at === undefined ? now.getTime() : Date.parse(ended_at)) - Date.parse(started_at);
  const [question] = questions ?? [];
  return {
    id: _id,
    status,
    title,
    workflow,
    ...(parent && { parent: { run_id: parent.run_id, stage_id: parent.stage_id, root: parent.root } }),
    ...compact({ error, queue_position: queuePosition }),
    created_at,
    ...compact({ started_at, ended_at }),
    ...(typeof elapsedMs === 'number' && { timings: { elapsed_secs: Math.max(0, elapsedMs) / 1000 } }),
    ...(question && { question: { text: question.text } }),
    repository: run.repository ?? null,
    pull_request: null,
    sandbox: null,
  };
}
