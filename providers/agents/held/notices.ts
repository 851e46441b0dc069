import { watch, type FSWatcher } from 'node:fs';

/** How often everything is looked at although nothing was told, in milliseconds: seldom, unless nothing can be told. */
const lookEveryMs = { watched: 1_000, unwatched: 50 } as const;

/** Tells of changes of the files in one directory. Ask for the next notice before looking, then nothing is missed. */
export class Notices {
  private readonly waiting = new Map<string, { notice: Promise<void>; tell: () => void }>();
  private readonly watcher: FSWatcher | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(directory: string) {
    this.watcher = watched(directory, (name) => this.tell(name));
    this.timer = setInterval(() => this.tell(), this.watcher ? lookEveryMs.watched : lookEveryMs.unwatched);
  }

  /** Resolves when the file may have changed. */
  next(name: string): Promise<void> {
    const known = this.waiting.get(name);
    if (known) return known.notice;
    let tell: () => void = () => undefined;
    const notice = new Promise<void>((resolve) => (tell = resolve));
    this.waiting.set(name, { notice, tell });
    return notice;
  }

  /** Has the file looked at now; all of them without a name. */
  tell(name?: string): void {
    for (const [key, { tell }] of this.waiting) {
      if (name !== undefined && key !== name) continue;
      this.waiting.delete(key);
      tell();
    }
  }

  close(): void {
    clearInterval(this.timer);
    this.watcher?.close();
    this.tell();
  }
}

/** A system that is out of watches, or has none, is looked at more often. */
function watched(directory: string, tell: (name?: string) => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, (_, name) => tell(name ?? undefined));
    // The directory goes with its attempt.
    watcher.on('error', () => undefined);
    return watcher;
  } catch {
    return undefined;
  }
}
