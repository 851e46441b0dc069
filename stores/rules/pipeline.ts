import type { Document } from 'mongodb';
import { InvalidOperationError } from '../port/errors';
import { isPlainObject } from './values';

const stages = new Set(['$match', '$group', '$sort', '$limit', '$skip', '$project', '$unwind', '$count']);

/**
 * Splits a pipeline into the filter of its first stage, which an index must serve, and the rest.
 *
 * @throws InvalidOperationError for a stage the adapters do not treat alike, or no `$match` in front
 */
export function parsePipeline(collection: string, pipeline: Document[]): { match: Document; rest: Document[] } {
  for (const stage of pipeline) {
    const names = Object.keys(stage);
    const unknown = names.find((name) => !stages.has(name));
    if (names.length !== 1 || unknown !== undefined) {
      throw new InvalidOperationError(
        collection,
        `the pipeline stage ${unknown ?? JSON.stringify(names)} is not supported.`,
      );
    }
  }
  const [first, ...rest] = pipeline;
  const match: unknown = first?.$match;
  if (!isPlainObject(match)) {
    throw new InvalidOperationError(collection, 'a pipeline begins with $match.');
  }
  return { match, rest };
}
