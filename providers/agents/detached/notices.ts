import { type FSWatcher, watch } from 'node:fs';

/** How often all files are checked without a notice, in milliseconds: seldom, unless there can be no notices. */
const pollIntervalMs = { watched: 1_000, unwatched: 50 } as const;

/** Notifies of changes of the files in one directory. Ask for the next notice before looking, then nothing is missed. */
export class Notices {
  private readonly waiting = new Map<string, { notice: Promise<void>; notify: () => void }>();
  private readonly watcher: FSWatcher | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(directory: string) {
    this.watcher = watched(directory, (name) => this.notify(name));
    this.timer = setInterval(() => this.notify(), this.watcher ? pollIntervalMs.watched : pollIntervalMs.unwatched);
  }

  /** Resolves when the file may have changed. */
  next(name: string): Promise<void> {
    const pending = this.waiting.get(name);
    if (pending) {
      return pending.notice;
    }
    let notify: () => void = () => undefined;
    const notice = new Promise<void>((resolve) => (notify = resolve));
    this.waiting.set(name, { notice, notify });
    return notice;
  }

  /** Has the file checked now; all of them without a name. */
  notify(name?: string): void {
    for (const [key, { notify }] of this.waiting) {
      if (name !== undefined && key !== name) {
        continue;
      }
      this.waiting.delete(key);
      notify();
    }
  }

  close(): void {
    clearInterval(this.timer);
    this.watcher?.close();
    this.notify();
  }
}

/** A system that is out of watches, or has none, is polled more often. */
function watched(directory: string, onChange: (name?: string) => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, (_, name) => onChange(name ?? undefined));
    // The directory goes with its attempt.
    watcher.on('error', () => undefined);
    return watcher;
  } catch {
    return undefined;
  }
}
