import type { Clause } from '../rules/filter';
import type { Declaration, DeclaredIndex } from '../rules/spec';
import { UnindexedQueryError } from './errors';

/** The index every collection has. */
export const idIndex: DeclaredIndex = { name: '_id', keys: [['_id', 1]], unique: true };

/** How many documents a query may sort in memory. */
export const sortLimit = 10_000;

export interface QueryPlan {
  /** The index searches; one, or one for each branch of an `$or`. */
  indexes: DeclaredIndex[];
  /** The index yields the documents in the requested order. */
  ordered: boolean;
}

export type Sort = Record<string, 1 | -1>;

/** Whether an index entry's position decides the clause. Unique indexes omit missing values. */
function serves(clause: Clause, index: DeclaredIndex): boolean {
  switch (clause.kind) {
    case 'equal':
      return clause.value !== null || !index.unique;
    case 'in':
      return !clause.values.includes(null);
    case 'range':
      return true;
    case 'exists':
      return !clause.exists && !index.unique;
    case 'either':
    case 'other':
      return false;
  }
}

interface Candidate {
  index: DeclaredIndex;
  /** Keys at the front that are fixed to one value. */
  fixed: number;
  /** Keys at the front that narrow the search at all. */
  narrowing: number;
  /** The first key is fixed to one value or a few. */
  points: boolean;
}

function candidate(index: DeclaredIndex, clauses: Clause[]): Candidate {
  let fixed = 0;
  let narrowing = 0;
  for (const [path] of index.keys) {
    const onPath = clauses.filter((clause) => 'path' in clause && clause.path === path && serves(clause, index));
    if (onPath.length === 0) {
      break;
    }
    narrowing += 1;
    if (onPath.some((clause) => clause.kind === 'equal')) {
      if (fixed === narrowing - 1) {
        fixed += 1;
      }
    } else if (!onPath.some((clause) => clause.kind === 'in')) {
      break;
    }
  }
  const first = index.keys[0]?.[0];
  const points = clauses.some((each) => (each.kind === 'equal' || each.kind === 'in') && each.path === first);
  return { index, fixed, narrowing, points };
}

/** Whether the keys after the fixed ones are the sort, all in the same or all in the opposite direction. */
function inOrder({ index, fixed }: Candidate, clauses: Clause[], sort: Sort): boolean {
  const constant = new Set(clauses.flatMap((clause) => (clause.kind === 'equal' ? [clause.path] : [])));
  const sortKeys = Object.entries(sort).filter(([path]) => !constant.has(path));
  const rest = index.keys.slice(fixed);
  if (sortKeys.length > rest.length) {
    return false;
  }
  const turn = sortKeys.length > 0 && sortKeys[0]?.[1] !== rest[0]?.[1] ? -1 : 1;
  return sortKeys.every(([path, direction], at) => rest[at]?.[0] === path && rest[at][1] * turn === direction);
}

function score(option: Candidate, ordered: boolean): number {
  if (option.index === idIndex && option.points) {
    return Number.MAX_SAFE_INTEGER;
  }
  const complete = option.index.unique && option.fixed === option.index.keys.length;
  return (complete ? 1000 : 0) + option.fixed * 10 + option.narrowing * 4 + (ordered ? 3 : 0);
}

function pathsOf(clauses: Clause[]): string[] {
  const paths = clauses.flatMap((clause) =>
    clause.kind === 'either' ? clause.branches.flatMap(pathsOf) : clause.path,
  );
  return [...new Set(paths)];
}

/**
 * Chooses the index that serves a query, for both adapters, so that a query which one of them would serve by reading the whole
 * collection is refused by the other as well.
 *
 * @param options.limited a whole index may be read in its order when the query has a limit
 * @throws UnindexedQueryError
 */
export function planQuery(
  declaration: Declaration,
  clauses: Clause[],
  { sort = {}, limited = false }: { sort?: Sort; limited?: boolean } = {},
): QueryPlan {
  const candidates = [idIndex, ...declaration.indexes].map((index) => candidate(index, clauses));
  let best: { option: Candidate; ordered: boolean } | undefined;
  for (const option of candidates) {
    if (option.narrowing === 0) {
      continue;
    }
    const ordered = inOrder(option, clauses, sort);
    if (!best || score(option, ordered) > score(best.option, best.ordered)) {
      best = { option, ordered };
    }
  }
  if (best) {
    return { indexes: [best.option.index], ordered: best.ordered };
  }

  for (const clause of clauses) {
    if (clause.kind !== 'either') {
      continue;
    }
    const branches = clause.branches.map((branch) => planQuery(declaration, branch));
    return { indexes: branches.flatMap((branch) => branch.indexes), ordered: Object.keys(sort).length === 0 };
  }

  if (limited && clauses.length === 0 && Object.keys(sort).length > 0) {
    const scan = candidates.find(
      (option) => (!option.index.unique || option.index === idIndex) && inOrder(option, [], sort),
    );
    if (scan) {
      return { indexes: [scan.index], ordered: true };
    }
  }
  throw new UnindexedQueryError(declaration.name, pathsOf(clauses));
}
