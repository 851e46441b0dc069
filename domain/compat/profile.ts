import type { Task } from '../../contracts/tasks/task';
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
  map: NonNullable<CompatRow['present']>,
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
  map(reply, { task: note }, own);
  const worktrees = named.length > 0 ? await worktreesOf([...new Set(named)]) : undefined;
  return map(reply, { task: (task) => presentTask(task, worktrees?.get(task.id)) }, own);
}

/** The profile over the records of one workspace: the row of an operation, ready to be used. */
export function createCompatProfile(worktreesOf: FindWorktrees) {
  const rows = compatTable.flatMap(({ operations, present: map, ...rest }) =>
    operations.map((operation) => {
      const presenter = map && {
        present: (reply: unknown, own: Record<string, unknown>) => present(map, { reply, own, worktreesOf }),
      };
      return [operation, { ...rest, ...presenter }] as const;
    }),
  );
  const byOperation = new Map(rows);
  return (operationId: string) => byOperation.get(operationId);
}
