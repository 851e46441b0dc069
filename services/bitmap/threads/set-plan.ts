export type SetOperation = 'union' | 'intersect' | 'difference' | 'xor';

/** How a set is made of others; a leaf is one that is there. `intersect` and `difference` have at least one operand. */
export type SetPlan<Leaf> = { leaf: Leaf } | { operation: SetOperation; of: readonly SetPlan<Leaf>[] };

export function mapLeaves<From, To>(plan: SetPlan<From>, to: (leaf: From) => To): SetPlan<To> {
  if ('leaf' in plan) {
    return { leaf: to(plan.leaf) };
  }
  return { operation: plan.operation, of: plan.of.map((one) => mapLeaves(one, to)) };
}

export const leavesOf = <Leaf>(plan: SetPlan<Leaf>): Leaf[] =>
  'leaf' in plan ? [plan.leaf] : plan.of.flatMap((one) => leavesOf(one));
