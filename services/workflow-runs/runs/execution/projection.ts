import type { EntryLog } from '../../../../stores/port/collection';
import { endOfRun } from '../../retros/retro';
import type { CheckpointStore } from '../checkpoint-store';
import type { ChildRunStore } from '../children/store';
import { hasEnded, type RunRecord, type Stage } from '../run';
import type { RunStore } from '../store';
import type { UpdateOfTask } from '../task-base';
import { endOf, type RunEventEntry } from './events';
import type { RunUpdate } from './progress-state';

export interface RunWriterDependencies {
  runs: RunStore;
  checkpoints: Pick<CheckpointStore, 'put'>;
  children: Pick<ChildRunStore, 'putUsage'>;
  events: Pick<EntryLog<RunEventEntry>, 'append'>;
}

/**
 * Stores a run's updates: first its record, then the events for its watchers. The last update the other way round: a run that is read
 * as ended has all of its events. Repeatable, also with another content by a workflow task that is repeated: local activities are
 * in no history before their task is complete.
 */
export function createRunWriter({ runs, checkpoints, children, events }: RunWriterDependencies) {
  /**
   * @param run the values of the run at its last checkpoint, and whether the update, or a later one, may have been written before
   */
  async function writeBeside(
    { runId, version, ...update }: RunUpdate,
    { context, isRepeated }: Pick<RunRecord, 'context'> & { isRepeated: boolean },
  ): Promise<void> {
    if (update.used) {
      await children.putUsage(runId, update.used);
    }
    if (update.checkpoints.length > 0) {
      const reported = update.checkpoints.map((checkpoint) => ({ ...checkpoint, context_values: context }));
      await checkpoints.put(runId, { version, isRepeated }, reported);
    }
    const entries = update.events.map(({ at, event, key = '' }, index) => {
      // A run whose last task is repeated may go on for a while, and then end in the same way.
      const of = key && endOf(event) ? `${key}.${version}` : key;
      return { at, event, dedupeKey: of || `${version}.${index}` };
    });
    if (entries.length > 0) {
      await events.append(runId, entries);
    }
  }

  return async ({ task, ...update }: RunUpdate & Pick<UpdateOfTask, 'task'>): Promise<void> => {
    const { runId, version } = update;
    const endsRun = hasEnded(update.set.status ?? 'running');
    let applied: Parameters<typeof writeBeside>[1] | undefined;
    const isThere = await runs.project(runId, { version, task }, async (run, isRepeated) => {
      const change = await applyUpdate(run, update, runs.whole);
      // The end is written behind the rest, which a killed try may have left.
      applied = { context: change.context ?? run.context, isRepeated: isRepeated || endsRun };
      if (endsRun) {
        await writeBeside(update, applied);
      }
      return change;
    });
    if (isThere && !(applied && endsRun)) {
      await writeBeside(update, applied ?? { context: (await runs.get(runId))?.context ?? {}, isRepeated: true });
    }
  };
}

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
