import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchCollection } from '../../../contracts/knowledge/search';
import type { SearchEntry } from '../../../stores/knowledge/search/entry-store';
import type { DocumentVectors, SearchVectorStore } from '../../../stores/knowledge/search/vector-store';

/** Vectors that are compared at most: all of them are in memory, and every search compares each. */
export const maxVectors = 100_000;
/** Vectors that are compared before others have their turn. */
const maxInTurn = 2_000;

/** A document that is near, with its nearest part. */
export interface Near {
  entry: SearchEntry;
  part: number;
  score: number;
}

export interface Nearest {
  near: Near[];
  /** Whether every document was compared. */
  isComplete: boolean;
}

/** Four sums at once, which is half the time of one. */
function dot(a: Float32Array, b: Float32Array): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let index = 0; index < a.length; index += 4) {
    first += (a[index] ?? 0) * (b[index] ?? 0);
    second += (a[index + 1] ?? 0) * (b[index + 1] ?? 0);
    third += (a[index + 2] ?? 0) * (b[index + 2] ?? 0);
    fourth += (a[index + 3] ?? 0) * (b[index + 3] ?? 0);
  }
  return first + second + third + fourth;
}

/** The nearest part, and how near it is. */
function nearestPart(vectors: readonly Float32Array[], query: Float32Array): Omit<Near, 'entry'> {
  let nearest = { part: 0, score: -Infinity };
  for (const [part, vector] of vectors.entries()) {
    const score = dot(vector, query);
    nearest = score > nearest.score ? { part, score } : nearest;
  }
  return nearest;
}

const best = (near: Near[], limit: number): Near[] =>
  near.sort((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1)).slice(0, limit);

/** The vectors of one model in the memory of this process, which follows those in the store. */
export function createVectors(store: SearchVectorStore, model: string) {
  const byId = new Map<string, DocumentVectors>();
  let batch = 0;
  let count = 0;
  let syncing: Promise<void> | undefined;

  function drop(id: string): void {
    count -= byId.get(id)?.vectors.length ?? 0;
    byId.delete(id);
  }

  async function read(last: number): Promise<void> {
    for await (const { batch: own, ...document } of store.between(batch, last)) {
      drop(document.id);
      if (document.model === model && count + document.vectors.length <= maxVectors) {
        byId.set(document.id, document);
        count += document.vectors.length;
      }
      batch = Math.max(batch, own);
    }
  }

  return {
    /** Reads what was published since. */
    async sync(): Promise<void> {
      syncing ??= store
        .published()
        .then(read)
        .finally(() => {
          syncing = undefined;
        });
      await syncing;
    },

    /** Of the one writer: also reads, and publishes, what one before it has written and not come to publish. */
    async adopt(): Promise<void> {
      await syncing;
      await read(Number.MAX_SAFE_INTEGER);
      if (batch > (await store.published())) {
        await store.publish(batch);
      }
    },

    /** The batch that was read last. */
    batch: (): number => batch,
    hasRoomFor: (more: number): boolean => count + more <= maxVectors,
    isCurrent: ({ id, version }: SearchEntry): boolean => byId.get(id)?.version === version,
    ids: (): Iterable<string> => byId.keys(),
    drop,

    /** The nearest of some documents by brute force, each by its nearest part, in the version that is known of it. */
    async nearest(
      query: Float32Array,
      {
        known,
        collections,
        limit,
      }: { known: Iterable<SearchEntry>; collections: readonly SearchCollection[]; limit: number },
    ): Promise<Nearest> {
      let near: Near[] = [];
      let isComplete = true;
      let compared = 0;
      let leastScore = -Infinity;
      for (const entry of known) {
        if (!collections.includes(entry.collection)) {
          continue;
        }
        const document = byId.get(entry.id);
        if (document?.version !== entry.version || document.vectors[0]?.length !== query.length) {
          isComplete = false;
          continue;
        }
        const nearest = nearestPart(document.vectors, query);
        if (nearest.score >= leastScore) {
          near.push({ entry, ...nearest });
        }
        compared += document.vectors.length;
        if (compared >= maxInTurn) {
          compared = 0;
          near = best(near, limit);
          leastScore = near.length < limit ? -Infinity : (near.at(-1)?.score ?? -Infinity);
          await nextTurn();
        }
      }
      return { near: best(near, limit), isComplete };
    },
  };
}

export type Vectors = ReturnType<typeof createVectors>;
