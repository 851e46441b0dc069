import type {
  SearchCollection,
  SearchRefreshed,
  SearchRequest,
  SearchResponse,
  SearchResult,
} from '../../../contracts/knowledge/search';
import { AppError, conflict, errorMessage } from '../../../platform/errors/app-error';
import type { Log } from '../../../platform/log/log';
import { ModelError } from '../../../platform/models/errors';
import { within } from '../../../platform/operations/within';
import type { TextIndex } from '../../../stores/port/text/text-index';
import { fuse } from './fuse';
import type { Indexer } from './indexer';
import { findByWords, queryWords } from './keyword';
import type { Found, Semantic } from './semantic';
import type { SearchDocument } from './source';

/** How long a search may wait for the index and read documents, and a refresh may take before it is answered. */
const times = { settleMs: 250, searchMs: 5_000, refreshMs: 20_000 };

export interface SearchDeps {
  indexer: Indexer;
  index: TextIndex;
  /** Absent without an embedding model. */
  semantic: Semantic | undefined;
  load: (id: string) => Promise<SearchDocument | undefined>;
  log: Log;
}

export interface Search {
  /** @throws AppError 400 for a query without words, 409 for semantic search without a model, 503 when it cannot be asked */
  find(request: SearchRequest, collections: readonly SearchCollection[]): Promise<SearchResponse>;
  /** @throws AppError 409 when vectors are asked for and there is no model, 503 when it cannot be asked */
  refresh(options: { embed: boolean }): Promise<SearchRefreshed>;
  compareAll(): Promise<void>;
  close(): Promise<void>;
}

const withoutModel = () =>
  conflict(
    'Semantic search needs an embedding model: none is configured (BOARD_SEARCH_MODEL). Search by keyword instead.',
    { backend: 'keyword' },
    'SEARCH_MODEL_MISSING',
  );

const unavailable = (error: ModelError) =>
  new AppError('SEARCH_MODEL_UNAVAILABLE', {
    status: 503,
    message: `The embedding model does not answer: ${error.message}`,
    details: { kind: error.kind },
  });

const since = (begun: number): number => Math.round((performance.now() - begun) * 10) / 10;

interface Part {
  results: SearchResult[];
  isComplete: boolean;
}

export function createSearch({ indexer, index, semantic, load, log }: SearchDeps): Search {
  const stop = new AbortController();
  let isCompared = false;

  async function compareAll(): Promise<void> {
    await indexer.compareAll();
    isCompared = true;
  }

  interface Asked extends Pick<SearchRequest, 'query' | 'limit'> {
    collections: readonly SearchCollection[];
    signal: AbortSignal;
  }

  async function byWords({ query, ...asked }: Asked): Promise<Part> {
    const results = await findByWords({ index, load }, { words: queryWords(query), ...asked });
    return { results, isComplete: !asked.signal.aborted };
  }

  async function byMeaning(asked: Asked): Promise<Found> {
    if (!semantic) {
      throw withoutModel();
    }
    return semantic.find(asked).catch((error: unknown) => {
      throw error instanceof ModelError ? unavailable(error) : error;
    });
  }

  /** Both, or words alone while the model cannot be asked. */
  async function byBoth(asked: Asked): Promise<Part & Pick<SearchResponse, 'backend'>> {
    const near = byMeaning(asked).catch((error: unknown) => {
      log.warn({ error: errorMessage(error) }, 'semantic search failed; searching by keyword');
      return undefined;
    });
    const [words, meaning] = await Promise.all([byWords(asked), near]);
    if (!meaning) {
      return { ...words, backend: 'keyword', isComplete: false };
    }
    const results = fuse([words.results, meaning.results], asked.limit);
    return { results, backend: 'auto', isComplete: words.isComplete && meaning.isComplete };
  }

  async function found(
    backend: SearchRequest['backend'],
    asked: Asked,
  ): Promise<Part & Pick<SearchResponse, 'backend'>> {
    if (backend === 'semantic') {
      return { ...(await byMeaning(asked)), backend };
    }
    return backend === 'auto' && semantic ? byBoth(asked) : { ...(await byWords(asked)), backend: 'keyword' };
  }

  async function embed(signal: AbortSignal): Promise<boolean> {
    try {
      return (await semantic?.embedAll(signal)) ?? false;
    } catch (error) {
      if (error instanceof ModelError && !signal.aborted) {
        throw unavailable(error);
      }
      if (signal.aborted) {
        return false;
      }
      throw error;
    }
  }

  return {
    compareAll,

    async find({ query, limit, backend }, collections) {
      const begun = performance.now();
      const isCurrent = (await indexer.settle(times.settleMs)) && isCompared;
      const signal = AbortSignal.any([AbortSignal.timeout(times.searchMs), stop.signal]);
      const { isComplete, ...answer } = await found(backend, { query, limit, collections, signal });
      return {
        query,
        backend: answer.backend,
        degraded: !isCurrent || !isComplete,
        elapsedMs: since(begun),
        results: answer.results,
      };
    },

    async refresh({ embed: isEmbedding }) {
      const begun = performance.now();
      if (isEmbedding && !semantic) {
        throw withoutModel();
      }
      const signal = AbortSignal.any([AbortSignal.timeout(times.refreshMs), stop.signal]);
      const compared = compareAll().then(() => indexer.settle(times.refreshMs));
      const updated = await within(times.refreshMs, 'late', compared).catch((error: unknown) => {
        if (error instanceof Error && error.message === 'late') {
          return false;
        }
        throw error;
      });
      const embedded = isEmbedding && updated && (await embed(signal));
      return {
        backend: embedded ? 'semantic' : 'keyword',
        updated,
        embedded,
        elapsedMs: since(begun),
        commands: isEmbedding && updated ? ['update', 'embed'] : ['update'],
      };
    },

    close: async () => stop.abort(),
  };
}
