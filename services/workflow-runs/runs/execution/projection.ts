import { endOfRun } from '../../retros/retro';
import { hasEnded, type RunRecord, type Stage } from '../run';
import type { RunUpdate } from './progress-state';

/**
 * The fields of a run's record that its update changes.
 *
 * @param whole reads all stages of the run, which its end is judged by
 */
export async function applyUpdate(
  run: RunRecord,
  update: RunUpdate,
  whole: (run: RunRecord) => Promise<RunRecord>,
): Promise<Partial<RunRecord>> {
  const context = { ...run.context, ...update.context };
  const stages = mergeStages(run.stages, update.stages);
  const checkpoint = update.checkpoints.at(-1);
  const { webhooks = [] } = update;
  const { status = run.status, ended_at = run.created_at } = update.set;
  return {
    ...update.set,
    ...(hasEnded(status) && endOfRun({ ...(await whole({ ...run, stages })), status, ended_at })),
    ...(update.stages.length > 0 && { stages }),
    ...(Object.keys(update.context).length > 0 && { context }),
    ...(update.asked.length + update.withdrawn.length > 0 && {
      questions: [...(run.questions ?? []), ...update.asked].filter(({ id }) => !update.withdrawn.includes(id)),
    }),
    ...((run.webhooks || webhooks.length > 0) && {
      webhooks: [...(run.webhooks ?? []), ...webhooks].filter(({ stage_id }) => !update.withdrawn.includes(stage_id)),
    }),
    ...(update.guidance.length > 0 && { guidance: [...run.guidance, ...update.guidance] }),
    ...(checkpoint && { checkpoint: { ...checkpoint, context_values: context } }),
  };
}

function mergeStages(stored: readonly Stage[], reported: readonly Stage[]): Stage[] {
  const byId = new Map(reported.map((stage) => [stage.id, stage]));
  const merged = stored.map((stage) => byId.get(stage.id) ?? stage);
  const ids = new Set(stored.map(({ id }) => id));
  return [...merged, ...reported.filter(({ id }) => !ids.has(id))];
}
