import type {
  SearchCollection,
  SearchRefreshed,
  SearchRequest,
  SearchResponse,
} from '../../../contracts/knowledge/search';
import { conflict } from '../../../platform/errors/app-error';
import type { TextIndex } from '../../../stores/port/text-index';
import type { Indexer } from './indexer';
import { findByWords, queryWords } from './keyword';
import type { SearchDocument, SearchSource } from './source';

/** How long a search may wait for the index and read documents, and a refresh may take before it is answered. */
const times = { settleMs: 250, searchMs: 5_000, refreshMs: 20_000 };

export interface SearchDeps {
  sources: readonly SearchSource[];
  indexer: Indexer;
  index: TextIndex;
}

export interface Search {
  /** @throws AppError 400 for a query without words, 409 for semantic search without a model */
  find(request: SearchRequest, collections: readonly SearchCollection[]): Promise<SearchResponse>;
  /** @throws AppError 409 when vectors are asked for, and there is no model */
  refresh(options: { embed: boolean }): Promise<SearchRefreshed>;
  compareAll(): Promise<void>;
}

const withoutModel = () =>
  conflict(
    'Semantic search needs an embedding model: none is configured (BOARD_SEARCH_MODEL). Search by keyword instead.',
    { backend: 'keyword' },
    'SEARCH_MODEL_MISSING',
  );

const since = (begun: number): number => Math.round((performance.now() - begun) * 10) / 10;

export function createSearch({ sources, indexer, index }: SearchDeps): Search {
  let isCompared = false;

  const load = async (id: string): Promise<SearchDocument | undefined> =>
    sources.find(({ prefix }) => id.startsWith(prefix))?.load(id);

  async function compareAll(): Promise<void> {
    await indexer.compareAll();
    isCompared = true;
  }

  return {
    compareAll,

    async find({ query, limit, backend }, collections) {
      const begun = performance.now();
      if (backend === 'semantic') {
        throw withoutModel();
      }
      const words = queryWords(query);
      const isCurrent = (await indexer.settle(times.settleMs)) && isCompared;
      const signal = AbortSignal.timeout(times.searchMs);
      const results = await findByWords({ index, load }, { words, collections, limit, signal });
      return {
        query,
        backend: 'keyword',
        degraded: !isCurrent || signal.aborted,
        elapsedMs: since(begun),
        results,
      };
    },

    async refresh({ embed }) {
      const begun = performance.now();
      if (embed) {
        throw withoutModel();
      }
      const done = compareAll().then(() => indexer.settle(times.refreshMs));
      const late = new Promise<false>((resolve) => {
        setTimeout(() => resolve(false), times.refreshMs).unref();
      });
      const updated = await Promise.race([done, late]);
      done.catch(() => undefined);
      return { backend: 'keyword', updated, embedded: false, elapsedMs: since(begun), commands: ['update'] };
    },
  };
}
