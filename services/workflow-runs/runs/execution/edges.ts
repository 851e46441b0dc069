import { holds, type ReadsValues } from '../../graph/condition';
import type { Graph, GraphEdge } from '../../graph/graph';

export interface Outcome {
  outcome: 'success' | 'fail';
  /** The keys of the chosen options. */
  options?: readonly string[];
  /** Why it failed. */
  reason?: string;
}

/**
 * The edge a run follows. Edges whose option was chosen come first, then those whose condition holds, then those
 * without either; of several the heaviest, then the first by name. After a failure only a condition leads on.
 */
export function chooseEdge(
  graph: Graph,
  nodeId: string,
  {
    outcome: { outcome, options },
    values,
    isOpen = () => true,
    reads,
  }: {
    outcome: Outcome;
    /** Of the run; conditions also see `outcome`. */
    values: Readonly<Record<string, unknown>>;
    /** Whether the run may take the edge once more. */
    isOpen?: (edge: GraphEdge) => boolean;
    /** What its conditions read in values; without it, all. */
    reads?: ReadsValues;
  },
): GraphEdge | undefined {
  const edges = graph.edges.filter((edge) => edge.from === nodeId && isOpen(edge));
  const seen = { ...values, outcome };
  const passes = ({ condition }: GraphEdge): boolean => condition !== undefined && holds(condition, seen, reads);
  const chosen = edges.filter(({ option }) => option !== undefined && options?.includes(option));
  const groups =
    outcome === 'fail'
      ? [edges.filter(passes)]
      : [
          chosen.filter((edge) => edge.condition === undefined || passes(edge)),
          edges.filter((edge) => passes(edge) && (options === undefined || edge.option === undefined)),
          edges.filter(({ condition, option }) => !condition && (options === undefined || option === undefined)),
        ];
  return groups.find((group) => group.length > 0)?.sort(heaviestFirst)[0];
}

const heaviestFirst = (a: GraphEdge, b: GraphEdge): number => b.weight - a.weight || (a.to < b.to ? -1 : 1);
