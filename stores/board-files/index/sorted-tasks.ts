import type { Task } from '../../../contracts/tasks/task';

/** Newest first; equal times by id, so that pages do not overlap. Times are all written in the same form. */
function compare(a: Task, b: Task): number {
  if (a.updatedAt !== b.updatedAt) {
    return a.updatedAt < b.updatedAt ? 1 : -1;
  }
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** Tasks in the order of lists, so that a list costs no sorting. One task per id. */
export class SortedTasks {
  readonly #tasks: Task[] = [];

  get all(): readonly Task[] {
    return this.#tasks;
  }

  add(task: Task): void {
    this.#tasks.splice(this.#placeOf(task), 0, task);
  }

  /** `task` is the version that was added. */
  delete(task: Task): void {
    const place = this.#placeOf(task);
    if (this.#tasks[place]?.id === task.id) {
      this.#tasks.splice(place, 1);
    }
  }

  /** Index of the first task that does not come before `task`. */
  #placeOf(task: Task): number {
    let low = 0;
    let high = this.#tasks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const candidate = this.#tasks[middle];
      if (candidate && compare(candidate, task) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
