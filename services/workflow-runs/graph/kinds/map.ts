import type { Attributes } from '../dot';
import { mapLimits, type MapNode, mappedKinds, type NodeKind } from '../graph';
import { integer } from '../numbers';
import { parsePath } from '../values';

const ofMaps = ['items', 'each', 'concurrency', 'max_items', 'max_failures'] as const;

/** What a map does; what is wrong with it is passed to `problem`. */
export function mapOf(kind: NodeKind, attributes: Attributes, problem: (message: string) => void): MapNode | undefined {
  if (kind !== 'map') {
    ofMaps.filter((name) => attributes.has(name)).forEach((name) => problem(`${name} is of nodes with type=map only`));
    return undefined;
  }
  const items = parsePath(attributes.get('items') ?? '');
  if (!items) {
    problem('a map needs items, the name of a value that is a list, such as plan_output.files');
  }
  const written = attributes.get('each');
  const each = written === undefined ? 'prompt' : mappedKinds.find((candidate) => candidate === written);
  if (!each) {
    problem(`each must be one of ${mappedKinds.join(', ')}`);
  }
  const { usualItems, usualConcurrency, ...most } = mapLimits;
  const limit = (name: string, range: [number, number]) => integer(name, attributes, { range, problem });
  return {
    items: items ?? [],
    each: each ?? 'prompt',
    concurrency: limit('concurrency', [1, most.concurrency]) ?? usualConcurrency,
    maxItems: limit('max_items', [1, most.items]) ?? usualItems,
    maxFailures: limit('max_failures', [0, most.items]) ?? 0,
  };
}
