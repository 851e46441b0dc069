import { z } from 'zod';
import { text } from '../common';

export const searchBackend = z.enum(['keyword', 'semantic', 'auto']).meta({ id: 'SearchBackend' });
export type SearchBackend = z.infer<typeof searchBackend>;

export const searchCollection = z
  .enum(['tasks-active', 'tasks-backlog', 'tasks-archive', 'docs'])
  .meta({ id: 'SearchCollection' });
export type SearchCollection = z.infer<typeof searchCollection>;

/** The most characters of a snippet, and the most results of one search. */
export const searchLimits = { query: 500, snippet: 300, results: 100 };

/** Without `collections`, all that the caller may read are searched. */
export const searchRequest = z
  .strictObject({
    query: text(searchLimits.query, 1),
    limit: z.number().int().min(1).max(searchLimits.results).default(20),
    collections: z.array(searchCollection).min(1).max(searchCollection.options.length).optional(),
    backend: searchBackend.default('auto'),
  })
  .meta({ id: 'SearchRequest' });
export type SearchRequest = z.output<typeof searchRequest>;

export const searchResult = z
  .object({
    /** Of the task; of a document, its path. */
    id: z.string(),
    title: z.string(),
    /** Relative to the board's directory, or to that of the documents. */
    path: z.string(),
    collection: searchCollection,
    /** Plain text around the first matches, without what looks like a credential. */
    snippet: z.string().max(searchLimits.snippet),
    /** Higher is better, between 0 and 1; comparable within one response only. */
    score: z.number().min(0).max(1),
  })
  .meta({ id: 'SearchResult' });
export type SearchResult = z.infer<typeof searchResult>;

export const searchResponse = z
  .object({
    query: z.string(),
    /** What the results were found by; `auto` when it was both. */
    backend: searchBackend,
    /** Whether the results are fewer, or found by less, than was asked for. */
    degraded: z.boolean(),
    elapsedMs: z.number().min(0),
    /** The best first. */
    results: z.array(searchResult).max(searchLimits.results),
  })
  .meta({ id: 'SearchResponse' });
export type SearchResponse = z.infer<typeof searchResponse>;

/** `embed` also computes the vectors that semantic search compares. */
export const searchRefresh = z.strictObject({ embed: z.boolean().default(false) }).meta({ id: 'SearchRefresh' });

export const searchRefreshed = z
  .object({
    backend: searchBackend,
    /** Whether the index now has everything as it is. */
    updated: z.boolean(),
    /** Whether every text has its vectors; `false` unless they were asked for. */
    embedded: z.boolean(),
    elapsedMs: z.number().min(0),
    /** The steps that were carried out. */
    commands: z.array(z.enum(['update', 'embed'])).max(2),
  })
  .meta({ id: 'SearchRefreshed' });
export type SearchRefreshed = z.infer<typeof searchRefreshed>;
