import type { Task } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import { admissionRows } from './admission';
import { listRows } from './lists';
import { phaseRows } from './phases';
import type { CompatRow, TaskWorktree } from './presenter';
import { runRows } from './runs';
import { presentTask, taskRows } from './tasks';

/** The table of the reply profile for existing clients: what is not in it comes in the default shape. */
export const compatTable: readonly CompatRow[] = [...taskRows, ...listRows, ...runRows, ...phaseRows, ...admissionRows];

/** The worktrees that tasks have now, by task. */
export type FindWorktrees = (taskIds: readonly string[]) => Promise<ReadonlyMap<string, TaskWorktree>>;

/** The reply with every task in it as existing clients read it. */
async function present(
  row: CompatRow,
  { reply, own, worktreesOf }: { reply: unknown; own: Record<string, unknown>; worktreesOf: FindWorktrees },
): Promise<unknown> {
  const named: string[] = [];
  const note = (task: Task) => {
    // A task without a repository has no worktree.
    if (task.git?.repo !== undefined) {
      named.push(task.id);
    }
    return task;
  };
  row.present?.(reply, { task: note }, own);
  const worktrees = named.length > 0 ? await worktreesOf([...new Set(named)]) : undefined;
  return row.present?.(reply, { task: (task) => presentTask(task, worktrees?.get(task.id)) }, own);
}

/** A row as an operation of one workspace uses it. */
interface CompatOperation extends Pick<CompatRow, 'query' | 'toQuery' | 'response'> {
  present?: (reply: unknown, own: Record<string, unknown>) => Promise<unknown>;
}

function bind(row: CompatRow, worktreesOf: FindWorktrees): CompatOperation {
  const { query, toQuery, response } = row;
  const operation = compact({ query, toQuery, response });
  return row.present === undefined
    ? operation
    : {
        ...operation,
        present: (reply: unknown, own: Record<string, unknown>) => present(row, { reply, own, worktreesOf }),
      };
}

/** The profile over the records of one workspace: the row of an operation, ready to be used. */
export function createCompatProfile(worktreesOf: FindWorktrees) {
  const byOperation = new Map(
    compatTable.flatMap((row) => row.operations.map((operation) => [operation, bind(row, worktreesOf)] as const)),
  );
  return (operationId: string) => byOperation.get(operationId);
}
