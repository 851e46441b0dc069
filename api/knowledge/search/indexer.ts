import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../platform/errors/app-error';
import type { Log } from '../../../platform/log/log';
import { wordsOf } from '../../../platform/text/words';
import type { SearchEntry, SearchEntryStore } from '../../../stores/knowledge/search/entry-store';
import type { TextIndex } from '../../../stores/port/text/text-index';
import type { SearchDocument, SearchSource } from './source';

/** Words of one document that are indexed. */
const maxWords = { title: 100, body: 20_000 };
const writesAtOnce = 50;
/** How long changes are gathered while no search waits for them, in milliseconds: they share transactions. */
const gatherMs = 250;
const retryMs = { first: 500, longest: 30_000 };

interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
}

function deferred(): Deferred {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export interface IndexerOptions {
  sources: readonly SearchSource[];
  index: TextIndex;
  entries: SearchEntryStore;
  log: Log;
}

/**
 * Makes the index follow its sources. Whatever is interrupted is found again by comparing versions: a document is written to the
 * index first and its version after it, so that a crash in between repeats one write.
 */
export function createIndexer({ sources, index, entries, log }: IndexerOptions) {
  const known = new Map<string, SearchEntry>();
  let revision = 0;
  const pending = new Set<string>();
  const stop = new AbortController();
  let wake = deferred();
  let idle: Deferred | undefined;
  /** Resolved when a search waits for what is pending. */
  let urgent = deferred();
  let running: Promise<void> | undefined;

  const sourceOf = (id: string): SearchSource | undefined => sources.find(({ prefix }) => id.startsWith(prefix));

  async function forget(id: string): Promise<void> {
    await index.remove(id);
    await entries.remove(id);
    known.delete(id);
    revision += 1;
  }

  async function write({ id, collection, version, heading, text }: SearchDocument): Promise<void> {
    const title = wordsOf(heading, maxWords.title);
    await index.put({ id, group: collection, title, body: wordsOf(text, maxWords.body) });
    await entries.put({ id, collection, version });
    known.set(id, { id, collection, version });
    revision += 1;
  }

  async function follow(id: string): Promise<void> {
    const current = await sourceOf(id)?.load(id);
    if (!current) {
      await forget(id);
    } else if (known.get(id)?.version !== current.version || known.get(id)?.collection !== current.collection) {
      await write(current);
    }
  }

  /** Writes what is waiting; what fails waits again. @returns whether all of it was written */
  async function drain(): Promise<boolean> {
    let failure: unknown;
    while (pending.size > 0 && failure === undefined && !stop.signal.aborted) {
      const ids = [...pending].slice(0, writesAtOnce);
      ids.forEach((id) => pending.delete(id));
      const results = await Promise.allSettled(ids.map(follow));
      for (const [position, result] of results.entries()) {
        if (result.status === 'rejected') {
          failure = result.reason;
          pending.add(ids[position] ?? '');
        }
      }
    }
    if (failure !== undefined) {
      log.warn({ waiting: pending.size, error: errorMessage(failure) }, 'search index update deferred');
    }
    return pending.size === 0;
  }

  /** One execution for all changes, which begins with no request: none of its writes belongs to one. */
  async function run(): Promise<void> {
    let pauseMs = retryMs.first;
    while (!stop.signal.aborted) {
      await wake.promise;
      await Promise.race([
        urgent.promise,
        delay(gatherMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined),
      ]);
      urgent = deferred();
      wake = deferred();
      if (await drain()) {
        pauseMs = retryMs.first;
        idle?.resolve();
        idle = undefined;
      } else {
        await delay(pauseMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
        pauseMs = Math.min(2 * pauseMs, retryMs.longest);
        wake.resolve();
      }
    }
  }

  function changed(id: string): void {
    pending.add(id);
    idle ??= deferred();
    wake.resolve();
  }

  /** Resolves once all that is known to have changed is in the index, or after so long. @returns whether it is */
  async function settle(ms: number): Promise<boolean> {
    if (idle === undefined) {
      return true;
    }
    urgent.resolve();
    const late = new AbortController();
    const signal = AbortSignal.any([late.signal, stop.signal]);
    const expired = delay(ms, false, { signal, ref: false }).catch(() => false);
    const result = await Promise.race([idle.promise.then(() => true), expired]);
    late.abort();
    return result;
  }

  /** Reads again which versions are in the index. */
  async function readKnown(): Promise<void> {
    const stored = new Map<string, SearchEntry>();
    for await (const entry of entries.all()) {
      stored.set(entry.id, entry);
    }
    for (const id of known.keys()) {
      if (!stored.has(id) && !pending.has(id)) {
        known.delete(id);
      }
    }
    stored.forEach((entry, id) => known.set(id, entry));
    revision += 1;
  }

  /** Finds what of some sources is not in the index as it is. */
  async function compare(compared: readonly SearchSource[]): Promise<void> {
    const seen = new Set<string>();
    for (const source of compared) {
      for await (const { id, version, collection } of source.list()) {
        seen.add(id);
        const indexed = known.get(id);
        if (indexed?.version !== version || indexed.collection !== collection) {
          changed(id);
        }
        if (stop.signal.aborted) {
          return;
        }
      }
    }
    for (const id of known.keys()) {
      const source = sourceOf(id);
      if (!seen.has(id) && (source === undefined || compared.includes(source))) {
        changed(id);
      }
    }
  }

  let comparing: Promise<unknown> = Promise.resolve();

  /** One comparison at a time: two of them would find the same work. */
  function afterOthers(work: () => Promise<void>): Promise<void> {
    const current = comparing.then(work);
    comparing = current.catch(() => undefined);
    return current;
  }

  return {
    changed,
    settle,
    /** The collection and the version that are in the index. */
    entryOf: (id: string): SearchEntry | undefined => known.get(id),
    /** Documents that are in the index. */
    known: (): Iterable<SearchEntry> => known.values(),
    /** Another number after each change of them. */
    revision: (): number => revision,
    /** Compares everything, also with what other processes have written to the index. */
    compareAll: () =>
      afterOthers(async () => {
        await readKnown();
        await compare(sources);
      }),
    /** Compares one source with what this process knows of the index. */
    compareSource: (source: SearchSource) => afterOthers(() => compare([source])),
    start: (): void => {
      running ??= run();
    },
    close: async (): Promise<void> => {
      stop.abort();
      wake.resolve();
      await Promise.all([running, comparing]);
    },
  };
}

export type Indexer = ReturnType<typeof createIndexer>;
