import type { SearchCollection, SearchResult } from '../../../contracts/knowledge/search';
import type { Embedder } from '../../../platform/models/embed';
import { ModelError } from '../../../platform/models/errors';
import type { Board } from '../../../stores/board-files/types';
import type { SearchVectorStore } from '../../../stores/knowledge/search/vector-store';
import { chunksOf } from './chunks';
import { beginningOf } from './excerpt';
import type { Indexer } from './indexer';
import { resultOf } from './keyword';
import type { SearchDocument } from './source';
import { createVectors } from './vectors';

/** Documents that are written as one batch, and texts that a model is sent at a time. */
const maxInBatch = { documents: 50, texts: 64 };

export interface SemanticDeps {
  embedder: Embedder;
  store: SearchVectorStore;
  indexer: Indexer;
  board: Pick<Board, 'exclusive'>;
  load: (id: string) => Promise<SearchDocument | undefined>;
}

export interface SemanticQuery {
  query: string;
  collections: readonly SearchCollection[];
  limit: number;
  signal: AbortSignal;
}

export interface Found {
  results: SearchResult[];
  /** Whether every document that there is was compared. */
  isComplete: boolean;
}

export interface Semantic {
  /** @throws ModelError when the model cannot be asked */
  find(query: SemanticQuery): Promise<Found>;
  /**
   * Embeds what has no vectors as it is now, until the signal aborts. What is stored stays; the rest is found again the next time.
   *
   * @returns whether everything has
   * @throws ModelError when the model cannot be asked; AppError 503 while another process embeds
   */
  embedAll(signal: AbortSignal): Promise<boolean>;
}

const sizeOf = (parts: string[][]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** Search by meaning: vectors of an embedding model, compared with each other by brute force. */
export function createSemantic(deps: SemanticDeps): Semantic {
  const { embedder, store, indexer, board, load } = deps;
  const vectors = createVectors(store, embedder.model);

  async function embedTexts(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const embedded: Float32Array[] = [];
    for (let start = 0; start < texts.length; start += maxInBatch.texts) {
      embedded.push(...(await embedder.embed(texts.slice(start, start + maxInBatch.texts), signal)));
    }
    return embedded;
  }

  /** @returns whether there was room for all of them */
  async function embedBatch(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const documents = (await Promise.all(ids.map(load))).filter((document) => document !== undefined);
    const parts = documents.map(chunksOf);
    if (!vectors.hasRoomFor(sizeOf(parts))) {
      return false;
    }
    const texts = documents.flatMap(({ title }, index) => (parts[index] ?? []).map((part) => `${title}\n${part}`));
    const embedded = await embedTexts(texts, signal);
    const batch = vectors.batch() + 1;
    for (const [index, { id, version }] of documents.entries()) {
      const own = embedded.splice(0, parts[index]?.length ?? 0);
      await store.put(batch, { id, version, model: embedder.model, vectors: own });
    }
    await store.publish(batch);
    await vectors.sync();
    return true;
  }

  async function removeGone(): Promise<void> {
    const gone = [...vectors.ids()].filter((id) => indexer.entryOf(id) === undefined);
    await store.remove(gone);
    gone.forEach((id) => vectors.drop(id));
  }

  return {
    async find({ query, collections, limit, signal }) {
      const [vector] = await embedder.embed([query], signal);
      if (!vector) {
        throw new ModelError('unavailable', 'The response has no vector.');
      }
      await vectors.sync();
      const known = { all: indexer.known, entryOf: indexer.entryOf, revision: indexer.revision };
      const { near, isComplete } = await vectors.nearest(vector, { known, collections, limit: limit + 20 });
      const results: SearchResult[] = [];
      for (const { entry, part, score } of near) {
        if (results.length >= limit || signal.aborted) {
          break;
        }
        const document = await load(entry.id);
        // What has changed since it was embedded may be about something else now.
        if (document?.version === entry.version && collections.includes(document.collection)) {
          const snippet = beginningOf(chunksOf(document)[part] ?? document.text);
          results.push(resultOf(document, snippet, Math.round(Math.min(1, Math.max(0, score)) * 10_000) / 10_000));
        }
      }
      return { results, isComplete: isComplete && !signal.aborted };
    },

    embedAll: (signal) =>
      board.exclusive('search-embedding', async (held) => {
        await vectors.adopt();
        await removeGone();
        const waiting = [...indexer.known()].filter((entry) => !vectors.isCurrent(entry)).map(({ id }) => id);
        for (let start = 0; start < waiting.length; start += maxInBatch.documents) {
          if (signal.aborted) {
            return false;
          }
          held.assertHeld();
          const hadRoom = await embedBatch(waiting.slice(start, start + maxInBatch.documents), signal);
          if (!hadRoom) {
            return false;
          }
        }
        return true;
      }),
  };
}
