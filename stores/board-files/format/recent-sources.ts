import type { Task } from '../../../contracts/tasks/task';
import type { FrontMatter } from './front-matter';

/** A task as a file that this process has written reads. */
export interface WrittenTask {
  task: Task;
  source: FrontMatter;
}

/** What is remembered at most: a task that is written again and again is read and printed once. */
const mostTasks = 2_048;
const mostCharacters = 8 * 1024 * 1024;

/** What this process has written last, by the hash of the text: the same text is not parsed again. */
export class RecentSources {
  readonly #byHash = new Map<string, WrittenTask & { length: number }>();
  #characters = 0;

  get(hash: string): WrittenTask | undefined {
    return this.#byHash.get(hash);
  }

  /** @param replaced the hash of the text before, which no file has any more */
  put({ hash, text, task, source }: WrittenTask & { hash: string; text: string }, replaced?: string): void {
    const { length } = text;
    for (const old of [hash, replaced]) {
      this.#forget(old);
    }
    this.#byHash.set(hash, { task, source, length });
    this.#characters += length;
    for (const [oldest] of this.#byHash) {
      if (this.#byHash.size <= mostTasks && this.#characters <= mostCharacters) {
        return;
      }
      this.#forget(oldest);
    }
  }

  #forget(hash: string | undefined): void {
    const known = hash === undefined ? undefined : this.#byHash.get(hash);
    if (hash !== undefined && known) {
      this.#byHash.delete(hash);
      this.#characters -= known.length;
    }
  }
}
