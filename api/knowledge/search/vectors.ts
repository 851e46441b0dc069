import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchCollection } from '../../../contracts/knowledge/search';
import { createVectorRows, type VectorRows } from '../../../platform/vectors/vector-rows';
import type { SearchEntry } from '../../../stores/knowledge/search/entry-store';
import type { SearchVectorStore } from '../../../stores/knowledge/search/vector-store';

/** Vectors that are compared at most: all of them are in memory, and every search compares each. */
export const maxVectors = 100_000;
/** Documents whose versions are compared before others have their turn. */
const maxInTurn = 10_000;

/** A document that is near, with its nearest part. */
export interface Near {
  entry: SearchEntry;
  part: number;
  score: number;
}

/** The documents that the index has, in the versions that it has of them. */
export interface KnownDocuments {
  all(): Iterable<SearchEntry>;
  entryOf(id: string): SearchEntry | undefined;
  /** Another number after each change of them. */
  revision(): number;
}

export interface Nearest {
  near: Near[];
  /** Whether every document was compared. */
  isComplete: boolean;
}

/** The best of many, which are sorted now and then: of each document its nearest part. */
function createRanking(limit: number) {
  let near: Near[] = [];
  let least = -Infinity;

  function cut(): void {
    const documents = new Map<string, Near>();
    near.sort((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1));
    for (const one of near) {
      documents.set(one.entry.id, documents.get(one.entry.id) ?? one);
    }
    near = [...documents.values()].slice(0, limit);
    least = near.length < limit ? -Infinity : (near.at(-1)?.score ?? -Infinity);
  }

  return {
    /** What scores less is not among the best. */
    least: (): number => least,
    add(one: Near): void {
      near.push(one);
      if (near.length >= 4 * limit) {
        cut();
      }
    },
    best(): Near[] {
      cut();
      return near;
    },
  };
}

/** A document in memory, with the rows of its parts. */
interface Compared {
  id: string;
  version: string;
  dimensions: number;
  rows: number[];
  /** Counts documents as they are read: a search that began before it has no scores of its rows. */
  sequence: number;
}

/** Vectors of one dimension, and the document of each row. */
interface Space {
  rows: VectorRows;
  documents: (Compared | undefined)[];
}

/** The vectors of one model in the memory of this process, which follows those in the store. */
export function createVectors(store: SearchVectorStore, model: string) {
  const byId = new Map<string, Compared>();
  const byDimensions = new Map<number, Space>();
  let sequence = 0;
  let batch = 0;
  let count = 0;
  let changes = 0;
  let syncing: Promise<void> | undefined;
  /** What was found to be complete, and of which state that is so. */
  let complete = { of: '', is: false };

  function drop(id: string): void {
    const { rows = [], dimensions = 0 } = byId.get(id) ?? {};
    const space = byDimensions.get(dimensions);
    for (const row of rows) {
      space?.rows.remove(row);
      delete space?.documents[row];
    }
    count -= rows.length;
    changes += 1;
    byId.delete(id);
  }

  function spaceOf(dimensions: number): Space {
    const space = byDimensions.get(dimensions) ?? { rows: createVectorRows(dimensions), documents: [] };
    byDimensions.set(dimensions, space);
    return space;
  }

  async function read(last: number): Promise<void> {
    for await (const { batch: own, id, version, model: embeddedBy, vectors } of store.between(batch, last)) {
      drop(id);
      const dimensions = vectors[0]?.length ?? 0;
      const isOfModel = embeddedBy === model && vectors.every(({ length }) => length === dimensions);
      if (isOfModel && count + vectors.length <= maxVectors) {
        const space = spaceOf(dimensions);
        const rows = vectors.map((vector) => space.rows.add(vector));
        const document = { id, version, dimensions, rows, sequence: (sequence += 1) };
        rows.forEach((row) => (space.documents[row] = document));
        byId.set(id, document);
        count += rows.length;
      }
      batch = Math.max(batch, own);
    }
  }

  /** Whether all documents of some collections have vectors of this dimension in the version that is known of them. */
  async function isComplete(
    known: KnownDocuments,
    collections: readonly SearchCollection[],
    dimensions: number,
  ): Promise<boolean> {
    const of = JSON.stringify([known.revision(), changes, sequence, dimensions, collections]);
    if (complete.of === of) {
      return complete.is;
    }
    let is = true;
    let compared = 0;
    for (const { id, version, collection } of known.all()) {
      if (collections.includes(collection)) {
        const document = byId.get(id);
        is &&= document?.version === version && document.dimensions === dimensions;
      }
      compared += 1;
      if (!is) {
        break;
      }
      if (compared % maxInTurn === 0) {
        await nextTurn();
      }
    }
    // What has changed meanwhile makes it one of no state.
    complete = { of, is };
    return is;
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
      { known, collections, limit }: { known: KnownDocuments; collections: readonly SearchCollection[]; limit: number },
    ): Promise<Nearest> {
      const hasAll = await isComplete(known, collections, query.length);
      const space = byDimensions.get(query.length);
      if (!space) {
        return { near: [], isComplete: hasAll };
      }
      const last = sequence;
      const scores = await space.rows.scores(query);
      const ranking = createRanking(limit);
      const rank = (document: Compared, row: number, score: number): void => {
        const entry = score < ranking.least() ? undefined : known.entryOf(document.id);
        if (entry?.version === document.version && collections.includes(entry.collection)) {
          ranking.add({ entry, part: document.rows.indexOf(row), score });
        }
      };
      for (let row = 0; row < scores.length; row += 1) {
        const document = space.documents[row];
        const score = scores[row] ?? -Infinity;
        if (score >= ranking.least() && document !== undefined && document.sequence <= last) {
          rank(document, row, score);
        }
      }
      if (sequence > last) {
        for (const document of byId.values()) {
          const isNew = document.sequence > last && document.dimensions === query.length;
          for (const row of isNew ? document.rows : []) {
            rank(document, row, space.rows.scoreOf(query, row));
          }
        }
      }
      return { near: ranking.best(), isComplete: hasAll };
    },
  };
}

export type Vectors = ReturnType<typeof createVectors>;
