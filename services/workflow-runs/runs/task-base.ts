import type { RunRecord } from './run';

/** Which update of a run it is, and of which of its workflow tasks. */
export interface UpdateOfTask {
  /** 1, 2, 3 …, one after the other. */
  version: number;
  /** Grows with the history: a later task has a larger one, and so has a task that is repeated. */
  task: number;
}

/**
 * What the updates of one workflow task have replaced. A task whose worker is killed is repeated, and may report something else
 * then: messages and timers come to it in another order.
 */
export interface TaskBase {
  task: number;
  /** The version of the record before the first update of the task. */
  revision: number;
  /** Fields as they were before the task, of those that it has changed. */
  fields: Partial<RunRecord>;
  /** The names of those that were absent. */
  absent: string[];
}

/** Whether an update is of a task that is repeated: it begins where the task before it began. */
export const repeatsTask = ({ base, revision }: RunRecord, { version }: UpdateOfTask): boolean =>
  base !== undefined && version === base.revision + 1 && version <= revision;

/** The record as it was before its last workflow task. */
export function beforeTask(run: RunRecord): RunRecord {
  const { base, ...rest } = run;
  const before: RunRecord = { ...rest, ...base?.fields, revision: base?.revision ?? run.revision };
  for (const name of base?.absent ?? []) {
    // Only what is optional is ever absent.
    Reflect.deleteProperty(before, name);
  }
  return before;
}

/** What a change of the record by a workflow task replaces, beside what earlier updates of the same task have replaced. */
export function baseOf(run: RunRecord, change: Partial<RunRecord>, { task }: UpdateOfTask): TaskBase {
  const base = run.base?.task === task ? run.base : { task, revision: run.revision, fields: {}, absent: [] };
  const isNew = (name: string): boolean => !(name in base.fields) && !base.absent.includes(name);
  const names = Object.keys(change).filter(isNew);
  const replaced = Object.entries(run).filter(([name]) => names.includes(name));
  const absent = names.filter((name) => !(name in run));
  return {
    ...base,
    fields: { ...base.fields, ...Object.fromEntries(replaced) },
    absent: [...base.absent, ...absent],
  };
}

/** The mark of a run that is in the totals of usage is not undone: it would be counted again. */
const counted = ({ usage_counted }: RunRecord, name: string): boolean =>
  name === 'usage_counted' && usage_counted === true;

/** The change of a record by an update; one of a task that is repeated also undoes what that has reported before. */
export function changeOf(
  run: RunRecord,
  change: Partial<RunRecord>,
  isRepeated: boolean,
): { set: Partial<RunRecord>; unset: string[] } {
  const undone = isRepeated ? run.base : undefined;
  const set = Object.entries({ ...undone?.fields, ...change }).filter(([name]) => !counted(run, name));
  const unset = (undone?.absent ?? []).filter((name) => !(name in change) && !counted(run, name));
  return { set: Object.fromEntries(set), unset };
}
