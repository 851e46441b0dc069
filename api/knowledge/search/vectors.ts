import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchCollection } from '../../../contracts/knowledge/search';
import { createVectorRows, type VectorRows } from '../../../platform/vectors/vector-rows';
import type { SearchEntry } from '../../../stores/knowledge/search/entry-store';
import type { SearchVectorStore } from '../../../stores/knowledge/search/vector-store';

/** Vectors that are compared at most: all of them are in memory, and every search compares each. */
export const maxVectors = 100_000;
/** Documents that are ranked before others have their turn. */
const maxInTurn = 5_000;

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

const best = (near: Near[], limit: number): Near[] =>
  near.sort((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1)).slice(0, limit);

/** A document in memory, with the rows of its parts. */
interface Compared {
  version: string;
  dimensions: number;
  rows: number[];
  /** Counts documents as they are read: a search that began before it has no scores of its rows. */
  sequence: number;
}

/** The vectors of one model in the memory of this process, which follows those in the store. */
export function createVectors(store: SearchVectorStore, model: string) {
  const byId = new Map<string, Compared>();
  const byDimensions = new Map<number, VectorRows>();
  let sequence = 0;
  let batch = 0;
  let count = 0;
  let syncing: Promise<void> | undefined;

  function drop(id: string): void {
    const { rows = [], dimensions = 0 } = byId.get(id) ?? {};
    rows.forEach((row) => byDimensions.get(dimensions)?.remove(row));
    count -= rows.length;
    byId.delete(id);
  }

  function rowsOf(dimensions: number): VectorRows {
    const rows = byDimensions.get(dimensions) ?? createVectorRows(dimensions);
    byDimensions.set(dimensions, rows);
    return rows;
  }

  async function read(last: number): Promise<void> {
    for await (const { batch: own, id, version, model: embeddedBy, vectors } of store.between(batch, last)) {
      drop(id);
      const dimensions = vectors[0]?.length ?? 0;
      const isOfModel = embeddedBy === model && vectors.every(({ length }) => length === dimensions);
      if (isOfModel && count + vectors.length <= maxVectors) {
        const rows = vectors.map((vector) => rowsOf(dimensions).add(vector));
        byId.set(id, { version, dimensions, rows, sequence: (sequence += 1) });
        count += rows.length;
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
      const last = sequence;
      const rows = byDimensions.get(query.length);
      const scores = await rows?.scores(query);
      const scoreOf = (row: number, isNew: boolean): number =>
        (isNew ? rows?.scoreOf(query, row) : scores?.[row]) ?? -Infinity;
      let near: Near[] = [];
      let isComplete = true;
      let ranked = 0;
      let leastScore = -Infinity;
      for (const entry of known) {
        if (!collections.includes(entry.collection)) {
          continue;
        }
        const document = byId.get(entry.id);
        if (document?.version !== entry.version || document.dimensions !== query.length) {
          isComplete = false;
          continue;
        }
        let nearest = { part: 0, score: -Infinity };
        for (const [part, row] of document.rows.entries()) {
          const score = scoreOf(row, document.sequence > last);
          nearest = score > nearest.score ? { part, score } : nearest;
        }
        if (nearest.score >= leastScore) {
          near.push({ entry, ...nearest });
        }
        ranked += 1;
        if (ranked >= maxInTurn) {
          ranked = 0;
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
