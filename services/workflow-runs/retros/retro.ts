import { compact } from '../../../platform/json/compact';
import { hasEnded, type RunRecord, type Smoothness, type Stage } from '../runs/run';
import { rounded } from '../usage/sum';
import { frictionPointsOf, openItemsOf } from './friction';
import type { RetroDetail, RetroItem, RetroStats } from './retro-detail';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const toMs = (seconds = 0): number => Math.round(seconds * 1000);

/**
 * How well a run went, judged by its status and the trouble on its way: retries, and stages that failed.
 *
 * - `failed`: the run failed.
 * - `effortless`: no trouble at all.
 * - `smooth`: retries only, at most one for every five stages (one is always allowed).
 * - `struggled`: more trouble than half as much as there are stages, and more than two.
 * - `bumpy`: everything between these.
 *
 * A run that was cancelled has none: it was stopped before it could show.
 */
export function smoothnessOf({ status, stages }: Pick<RunRecord, 'status' | 'stages'>): Smoothness | undefined {
  if (status === 'failed') {
    return 'failed';
  }
  if (status !== 'completed') {
    return undefined;
  }
  const retries = sum(stages.map((stage) => stage.retries));
  const failures = stages.filter((stage) => stage.status === 'failed').length;
  const trouble = retries + failures;
  if (trouble === 0) {
    return 'effortless';
  }
  if (failures === 0 && retries <= Math.max(1, stages.length / 5)) {
    return 'smooth';
  }
  return trouble > Math.max(2, stages.length / 2) ? 'struggled' : 'bumpy';
}

function statsOf({ started_at, ended_at, stages }: RunRecord): RetroStats {
  const costs = stages.flatMap(({ usage }) => usage?.cost ?? []);
  const wholeMs =
    started_at !== undefined && ended_at !== undefined ? Date.parse(ended_at) - Date.parse(started_at) : 0;
  return {
    total_duration_ms: Math.max(0, wholeMs),
    ...(costs.length > 0 && { total_cost: rounded(sum(costs)) }),
    total_retries: sum(stages.map(({ retries }) => retries)),
    files_touched: [...new Set(stages.flatMap(({ files_touched = [] }) => files_touched))].sort(),
    stages_completed: stages.filter(({ status }) => status === 'completed').length,
    stages_failed: stages.filter(({ status }) => status === 'failed').length,
  };
}

const stageRetroOf = ({
  id,
  name,
  status,
  duration_secs,
  retries,
  usage,
  notes,
  failure_reason,
  files_touched = [],
}: Stage) => ({
  stage_id: id,
  stage_label: name,
  status,
  duration_ms: toMs(duration_secs),
  retries,
  ...compact({ cost: usage?.cost ?? undefined, notes, failure_reason }),
  files_touched,
});

/** The outcome of the run by its record: its error, or the answer of its last stage. */
function outcomeOf({ status, error, stages }: RunRecord): string | undefined {
  if (status === 'failed') {
    return error?.message;
  }
  return status === 'completed' ? stages.findLast(({ notes }) => notes !== undefined)?.notes : undefined;
}

/**
 * What is to be learnt from a run; `undefined` while it has not ended. Everything in it is read off the run's record:
 * there are no learnings, and no open items of kinds that only a person who knows the work could name.
 */
export function retroOf(run: RunRecord): RetroDetail | undefined {
  const { _id, workflow, goal, created_at, ended_at } = run;
  if (!hasEnded(run.status)) {
    return undefined;
  }
  const smoothness = smoothnessOf(run);
  const outcome = outcomeOf(run);
  return {
    run_id: _id,
    workflow_name: workflow.name,
    goal: goal ?? '',
    timestamp: ended_at ?? created_at,
    ...(smoothness && { smoothness }),
    stages: run.stages.map(stageRetroOf),
    stats: statsOf(run),
    ...compact({ intent: goal, outcome }),
    friction_points: frictionPointsOf(run.stages),
    open_items: openItemsOf(run),
  };
}

/** A run that has ended as lists of retros show it. */
export function retroItemOf(run: RunRecord): RetroItem {
  const { _id, title, workflow, created_at, ended_at, smoothness } = run;
  return {
    run: { id: _id, title },
    workflow: { slug: workflow.slug },
    timestamp: ended_at ?? created_at,
    ...(smoothness && { smoothness }),
    stats: statsOf(run),
    friction_point_count: frictionPointsOf(run.stages).length,
  };
}

/** What the engine writes into a run's record together with the status it ends with. */
export function endOfRun(
  run: Pick<RunRecord, 'status' | 'stages'> & { ended_at: string },
): Pick<RunRecord, 'retro_at' | 'smoothness' | 'usage_counted'> {
  const smoothness = smoothnessOf(run);
  return { retro_at: run.ended_at, ...(smoothness && { smoothness }), usage_counted: false };
}
