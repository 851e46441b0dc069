import { type PhaseComparison, type PhaseDimension, phaseDimension } from '../../contracts/runs/phase';

/** What may be done in one dimension. Always in normal form: `normal` makes it. */
export interface Scoped {
  /** Sorted and without repetition; `*` alone is everything. */
  scopes: string[];
  /** What of it needs an approval each time; `*` alone is all of it. */
  approval: string[];
}

/** What may be done, by dimension. Ordered by how much that is: `meet` is the most that two allow both. */
export type Authority = Record<PhaseDimension, Scoped>;

export const dimensions = phaseDimension.options;
export const everything = '*';

const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

/** One form for each meaning, so that equal authority has one digest. */
export function normal({ scopes, approval }: Scoped): Scoped {
  const all = scopes.includes(everything);
  const allowed = all ? [everything] : sorted(scopes);
  if (approval.includes(everything)) {
    return { scopes: allowed, approval: [...allowed] };
  }
  return { scopes: allowed, approval: sorted(all ? approval : approval.filter((scope) => allowed.includes(scope))) };
}

const allows = ({ scopes }: Scoped, scope: string): boolean => scopes.includes(everything) || scopes.includes(scope);
const asksFor = ({ approval }: Scoped, scope: string): boolean =>
  approval.includes(everything) || approval.includes(scope);

/** What both allow; an approval that either requires is required. */
export function meetScoped(a: Scoped, b: Scoped): Scoped {
  const allScopes = sorted([...a.scopes, ...b.scopes]);
  const scopes = allScopes.filter((scope) => allows(a, scope) && allows(b, scope));
  if (scopes.includes(everything)) {
    return normal({ scopes, approval: [...a.approval, ...b.approval] });
  }
  return normal({ scopes, approval: scopes.filter((scope) => asksFor(a, scope) || asksFor(b, scope)) });
}

const equalScoped = (a: Scoped, b: Scoped): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether `a` allows nothing that `b` does not. */
export const withinScoped = (a: Scoped, b: Scoped): boolean => equalScoped(meetScoped(a, b), a);

export const mapAuthority = (each: (dimension: PhaseDimension) => Scoped): Authority =>
  Object.fromEntries(dimensions.map((dimension) => [dimension, normal(each(dimension))])) as Authority;

export const meet = (a: Authority, b: Authority): Authority =>
  mapAuthority((dimension) => meetScoped(a[dimension], b[dimension]));

/** Under no limits at all. */
export const unlimited: Authority = mapAuthority(() => ({ scopes: [everything], approval: [] }));

export const within = (a: Authority, b: Authority): boolean =>
  dimensions.every((dimension) => withinScoped(a[dimension], b[dimension]));

/** How much `target` allows beside `current`. What is more in one dimension is wider, whatever it is in the others. */
export function compare(target: Authority, current: Authority): PhaseComparison {
  if (!within(target, current)) {
    return 'wider';
  }
  return within(current, target) ? 'same' : 'narrower';
}
