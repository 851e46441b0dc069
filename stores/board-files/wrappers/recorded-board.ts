import type { Task, TaskLocation } from '../../../contracts/tasks/task';
import { currentOperation, type Operation } from '../../../platform/operations/operation';
import type { Board, TaskChange } from '../types';
import { wrappedBoard } from './wrapped-board';

/** One change of one task that was made through a board, by whom, and what the task was before. */
export interface RecordedChange {
  /** `create`, `update`, `delete`, or what a move is called. */
  operation: string;
  actor: string;
  /** Absent for a task that was created. */
  before?: Task | undefined;
  after: Task;
}

/**
 * The same board, which passes every change made through it to `record` and returns once that is done: every change confirmed
 * to a caller is recorded. Changes of other processes and hand edits are not recorded here: each process records its own, once.
 */
export function recordedBoard(board: Board, record: (change: RecordedChange) => Promise<void>): Board {
  /** Records what a change was made of; its last run counts. */
  const noting = (change: TaskChange) => {
    const operation = currentOperation();
    const seen: { task?: Task; done?: boolean } = {};
    const noted: TaskChange = (current: Task, location: TaskLocation) => {
      seen.task = operation?.repeated ? withoutOwnItems(current, operation) : current;
      seen.done = seen.task !== current;
      // An earlier try of the operation has added its items: they exist once, and are recorded if they were not.
      return seen.done ? {} : change(current, location);
    };
    return { seen, noted };
  };

  return wrappedBoard(board, {
    async create(input, options) {
      const after = await board.create(input, options);
      await record({ operation: 'create', actor: options.actor, after });
      return after;
    },
    async update(id, change, writer) {
      const { seen, noted } = noting(change);
      const after = await board.update(id, noted, writer);
      const changed = seen.done === true || after.revision !== seen.task?.revision;
      if (changed) {
        await record({ operation: 'update', actor: writer.actor, before: seen.task, after });
      }
      return after;
    },
    async move(id, change, mover) {
      const { seen, noted } = noting(change);
      const after = await board.move(id, noted, mover);
      await record({ operation: mover.operation, actor: mover.actor, before: seen.task, after });
      return after;
    },
    async remove(id, { check, ...writer }) {
      let before: Task | undefined;
      const noted = (current: Task, location: TaskLocation) => {
        before = current;
        check?.(current, location);
      };
      await board.remove(id, { ...writer, check: noted });
      if (before) {
        await record({ operation: 'delete', actor: writer.actor, before, after: before });
      }
    },
  });
}

/** The task without the items of its lists that the operation has added; the task itself when there are none. */
function withoutOwnItems(task: Task, operation: Operation): Task {
  const isOwn = (item: unknown): boolean =>
    typeof item === 'object' && item !== null && 'id' in item && typeof item.id === 'string' && operation.owns(item.id);
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value.some(isOwn) ? value.filter((item) => !isOwn(item)) : value;
    }
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [name, without(inner)]);
    const same = entries.every(([name, inner]) => inner === (value as Record<string, unknown>)[name]);
    return same ? value : Object.fromEntries(entries);
  };
  return without(task) as Task;
}
