import { AsyncLocalStorage } from 'node:async_hooks';
import type { Task, TaskLocation } from '../../contracts/tasks/task';
import { currentOperation, type Operation } from '../../platform/operations/operation';
import type { HeldLock, TaskLocks } from './task-locks';
import type { Writer } from './types';

/** One change of one task. */
export interface Step {
  /** What a refusal calls it. */
  operation: string;
  writer: Writer;
  /** The folder the task is in afterwards; absent: the one it is in. */
  to?: TaskLocation;
  /** Whether the step is about the folder: then it fails when the file cannot be put there. */
  moves?: boolean;
  /** Whether a deleted task may be changed; otherwise there is none. */
  evenDeleted?: boolean;
  next: (current: Task, location: TaskLocation) => Task;
}

/** A step that waits for the lock of its task, and its caller. */
export interface WaitingStep {
  step: Step;
  /** The operation that the step is part of. */
  operation: Operation | undefined;
  /** Runs code as part of that operation: a group is applied as part of that of its first step. */
  inContext: <T>(work: () => T) => T;
  resolve: (task: Task) => void;
  reject: (error: unknown) => void;
}

interface Group {
  steps: WaitingStep[];
  /** The last work on the task while nothing else waits for its lock behind the group. */
  place: unknown;
}

/** More than this would hold up the event loop, and the callers that came first. */
const mostSteps = 32;

/**
 * Applies the steps of a task that wait for its lock as one group, which is as much work for the disk as one of them. Steps keep
 * their order among all work on the task: one that comes after something else is in a later group.
 *
 * @param apply applies a group under the lock; what it does not settle before it ends is refused with its error
 */
export function createStepGroups(
  locks: Pick<TaskLocks, 'exclusive' | 'lastWork'>,
  apply: (id: string, steps: readonly WaitingStep[], held: HeldLock) => Promise<void>,
): (id: string, step: Step) => Promise<Task> {
  const open = new Map<string, Group>();

  function begin(id: string, first: WaitingStep): void {
    const group: Group = { steps: [first], place: undefined };
    const applied = locks.exclusive(id, (held) => {
      if (open.get(id) === group) {
        open.delete(id);
      }
      return apply(id, group.steps, held);
    });
    group.place = locks.lastWork(id);
    if (isPlainChange(first.step)) {
      open.set(id, group);
    }
    applied.catch((error: unknown) => {
      if (open.get(id) === group) {
        open.delete(id);
      }
      group.steps.forEach(({ reject }) => reject(error));
    });
  }

  return (id, step) =>
    new Promise((resolve, reject) => {
      const inContext = AsyncLocalStorage.snapshot() as WaitingStep['inContext'];
      const waiting = { step, operation: currentOperation(), inContext, resolve, reject };
      const group = open.get(id);
      const joins =
        group !== undefined &&
        group.steps.length < mostSteps &&
        locks.lastWork(id) === group.place &&
        isPlainChange(step);
      if (joins) {
        group.steps.push(waiting);
      } else {
        begin(id, waiting);
      }
    });
}

/** A step that leaves the task in its folder, and so can be written together with others. */
const isPlainChange = ({ to, evenDeleted }: Step): boolean => to === undefined && evenDeleted !== true;
