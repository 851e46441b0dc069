import { endOfRun } from '../../retros/retro';
import { hasEnded, type RunRecord, type Stage } from '../run';
import type { RunUpdate } from './progress';

/** The fields of a run's record after its update. */
export function applyUpdate(run: RunRecord, update: RunUpdate): Partial<RunRecord> {
  const context = { ...run.context, ...update.context };
  const stages = mergeStages(run.stages, update.stages);
  const { status = run.status, ended_at = run.created_at } = update.set;
  return {
    ...update.set,
    ...(hasEnded(status) && endOfRun({ status, stages, ended_at })),
    stages,
    context,
    guidance: [...run.guidance, ...update.guidance],
    ...(update.checkpoint && { checkpoint: { ...update.checkpoint, context_values: context } }),
  };
}

function mergeStages(stored: readonly Stage[], reported: readonly Stage[]): Stage[] {
  const byId = new Map(reported.map((stage) => [stage.id, stage]));
  const merged = stored.map((stage) => byId.get(stage.id) ?? stage);
  const ids = new Set(stored.map(({ id }) => id));
  return [...merged, ...reported.filter(({ id }) => !ids.has(id))];
}
