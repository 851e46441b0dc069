import { setTimeout as delay } from 'node:timers/promises';
import type { ChangeStream, Collection as MongoCollection } from 'mongodb';
import type { Log } from '../../platform/log/log';
import type { EntryDocument } from './log';

const retryEveryMs = 5_000;

/**
 * Follows the inserts of a log through one change stream per process and reports which scope has new entries. It only wakes
 * readers up: they read the entries themselves, so a stream that breaks delays them and loses nothing.
 */
export class ChangeFeed {
  private readonly ended = new AbortController();
  private stream: ChangeStream | undefined;
  private following = false;

  constructor(
    private readonly entries: MongoCollection<EntryDocument>,
    private readonly onAppend: (scope: string) => void,
    private readonly log: Log,
  ) {}

  /** Whether changes are reported at once. */
  get live(): boolean {
    return this.following;
  }

  async run(): Promise<void> {
    const { signal } = this.ended;
    const over = () => signal.aborted;
    while (!over()) {
      try {
        await this.follow();
      } catch (error) {
        if (!over()) {
          this.log.warn({ err: error }, 'change stream interrupted; polling until it recovers');
        }
      }
      this.following = false;
      await delay(retryEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.ended.abort();
    await this.stream?.close().catch(() => undefined);
  }

  private async follow(): Promise<void> {
    this.stream = this.entries.watch([{ $match: { operationType: 'insert' } }, { $project: { documentKey: 1 } }]);
    // The first response, usually empty, shows that the stream is open.
    await this.stream.tryNext();
    this.following = true;
    for await (const change of this.stream) {
      if (!('documentKey' in change)) {
        continue;
      }
      const id = String(change.documentKey._id);
      this.onAppend(id.slice(0, id.lastIndexOf('/')));
    }
  }
}
