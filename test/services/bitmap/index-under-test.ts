import { answerJson } from '../../../services/bitmap/answers/json';
import { Catalog, type Index } from '../../../services/bitmap/engine/catalog';
import type { Change } from '../../../services/bitmap/engine/change';
import type { FieldOptions } from '../../../services/bitmap/engine/options';
import { execute, type QueryOptions } from '../../../services/bitmap/query/execute';

export interface IndexUnderTest {
  catalog: Catalog;
  index: Index;
  /** Everything that was written, in order. */
  changes: Change[];
  field(name: string, options?: Partial<FieldOptions>): void;
  /** The text of the whole response, without its last line end. */
  text(query: string, options?: QueryOptions): string;
  /** The results of a query. */
  run(query: string, options?: QueryOptions): unknown[];
  /** The message of a query that fails. */
  error(query: string, options?: QueryOptions): string;
  recalculate(): void;
}

/** An index in memory. */
export function indexUnderTest(options: { keys?: boolean; trackExistence?: boolean } = {}): IndexUnderTest {
  const changes: Change[] = [];
  const catalog = new Catalog((change) => changes.push(change));
  const index = catalog.createIndex('i', { keys: false, trackExistence: true, ...options });
  const text = (query: string, given?: QueryOptions): string =>
    [...answerJson(execute({ catalog, index, options: given }, query))].join('').trimEnd();
  return {
    catalog,
    index,
    changes,
    field: (name, given = {}) => {
      const type = given.type ?? 'set';
      const cache = type === 'set' || type === 'mutex' ? ({ cacheType: 'ranked', cacheSize: 50_000 } as const) : {};
      catalog.createField(index, name, { type, keys: false, ...cache, ...given });
    },
    text,
    run: (query, given) => (JSON.parse(text(query, given)) as { results: unknown[] }).results,
    error: (query, given) => {
      try {
        execute({ catalog, index, options: given }, query);
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error(`${query} does not fail`);
    },
    recalculate: () => index.fields.forEach((field) => field.ranks?.recalculate()),
  };
}
