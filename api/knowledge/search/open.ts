import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../platform/errors/app-error';
import type { Log } from '../../../platform/log/log';
import type { Embedder } from '../../../platform/models/embed';
import type { Closer } from '../../../platform/processes/closers';
import type { Board } from '../../../stores/board-files/types';
import type { SearchEntryStore } from '../../../stores/knowledge/search/entry-store';
import type { SearchVectorStore } from '../../../stores/knowledge/search/vector-store';
import type { TextIndex } from '../../../stores/port/text/text-index';
import { createDocumentSource } from './document-source';
import { createIndexer, type Indexer } from './indexer';
import { createSearch, type Search } from './search';
import { createSemantic } from './semantic';
import type { SearchDocument, SearchSource } from './source';
import { createTaskSource, entryOfTask } from './task-source';

export interface SearchOptions {
  board: Pick<Board, 'get' | 'list' | 'onChange' | 'exclusive'>;
  /** The directory of documents. */
  documents: string;
  searchIndex: TextIndex;
  searchEntries: SearchEntryStore;
  searchVectors: SearchVectorStore;
  /** Absent when there is no semantic search. */
  embedder: Embedder | undefined;
  log: Log;
}

/** How often directories are scanned, which watching them would miss changes of, and everything is compared again. */
const rescanMs = { least: 2_000, perScanMs: 20, everything: 600_000 };

export interface OpenSearch extends Search {
  /** Begins to follow what is searched. */
  start(): Promise<Closer>;
}

/** The search of one workspace. */
export function openSearch({ board, documents, log, embedder, ...stores }: SearchOptions): OpenSearch {
  const docs = createDocumentSource(documents);
  const sources = [createTaskSource(board), docs];
  const load = async (id: string): Promise<SearchDocument | undefined> =>
    sources.find(({ prefix }) => id.startsWith(prefix))?.load(id);
  const index = stores.searchIndex;
  const indexer = createIndexer({ sources, index, entries: stores.searchEntries, log });
  const semantic = embedder && createSemantic({ embedder, store: stores.searchVectors, indexer, board, load });
  const search = createSearch({ indexer, index, semantic, load, log });
  return {
    ...search,
    start: async () => {
      const stop = new AbortController();
      indexer.start();
      const ignore = board.onChange(({ taskId }) => indexer.changed(entryOfTask(taskId)));
      const following = follow({ search, indexer, docs, log, signal: stop.signal });
      return async () => {
        ignore();
        stop.abort();
        await search.close();
        await indexer.close();
        await following;
      };
    },
  };
}

interface Following {
  search: Search;
  indexer: Indexer;
  docs: SearchSource;
  log: Log;
  signal: AbortSignal;
}

/** Compares everything at the start and now and then, and the documents again and again. */
async function follow({ search, indexer, docs, log, signal }: Following): Promise<void> {
  let comparedAt: number | undefined;
  while (!signal.aborted) {
    const begun = performance.now();
    try {
      if (comparedAt === undefined || begun - comparedAt >= rescanMs.everything) {
        await search.compareAll();
        comparedAt = begun;
      } else {
        await indexer.compareSource(docs);
      }
    } catch (error) {
      log.warn({ error: errorMessage(error) }, 'search index comparison failed');
    }
    const pauseMs = Math.max(rescanMs.least, rescanMs.perScanMs * (performance.now() - begun));
    await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
