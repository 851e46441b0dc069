import { containerWidth } from '../engine/column-list';
import type { ColumnSet } from '../engine/column-set';
import type { SetPlan } from './set-plan';

/*
 * About what operations cost on the main thread. Measured on one machine, which is enough to separate what takes milliseconds
 * from what does not: the time goes by the containers of bitmaps, each of which is somewhere else in memory, and by what
 * is in them.
 */

/** How wide a set is, and how full. */
interface Extent {
  containers: number;
  size: number;
}

/** Containers with more columns are bits: they cost no more. */
const maxListed = 4_096;
const columnsOfEach = ({ containers, size }: Extent): number =>
  Math.min(containers > 0 ? size / containers : 0, containerWidth);

/** Milliseconds for each container of what two sets share. */
const meeting = (columns: number): number => Math.min(0.000_2 + 0.000_001_9 * columns, 0.002_2);
/** Milliseconds for each container of each operand of a union. */
const joining = (columns: number): number => 0.001_1 + 0.000_001_2 * Math.min(columns, maxListed);

/** At most. */
export function extentOf(plan: SetPlan<ColumnSet>): Extent {
  if ('leaf' in plan) {
    return { containers: plan.leaf.containers, size: plan.leaf.size };
  }
  const [first = { containers: 0, size: 0 }, ...rest] = plan.of.map(extentOf);
  if (plan.operation === 'difference') {
    return first;
  }
  return rest.reduce(
    (a, b) =>
      plan.operation === 'intersect'
        ? { containers: Math.min(a.containers, b.containers), size: Math.min(a.size, b.size) }
        : { containers: Math.max(a.containers, b.containers), size: a.size + b.size },
    first,
  );
}

/** Milliseconds to make the set, or to count it. */
export function costOfSet(plan: SetPlan<ColumnSet>, maxContainers = Infinity): number {
  if ('leaf' in plan) {
    return 0;
  }
  const { operation, of } = plan;
  const most = operation === 'intersect' ? Math.min(extentOf(plan).containers, maxContainers) : maxContainers;
  const each = operation === 'union' || operation === 'xor' ? joining : meeting;
  let cost = 0;
  for (const operand of of) {
    const extent = extentOf(operand);
    cost += costOfSet(operand, most) + Math.min(extent.containers, most) * each(columnsOfEach(extent));
  }
  return cost;
}

/** Milliseconds to count what a row of so many columns shares with a set that is there. */
export const costOfShared = ({ containers, size }: Extent, row: number): number =>
  Math.min(row, containers) * meeting(columnsOfEach({ containers, size: (size + row) / 2 }));

/** The same for so many rows, without reading them: more than it can be. */
export const maxCostOfShared = ({ containers }: Extent, rows: number): number => rows * containers * meeting(Infinity);

/** What sets are like on the average. */
export function averageExtent(sets: readonly ColumnSet[]): Extent {
  const sum = { containers: 0, size: 0 };
  for (const { containers, size } of sets) {
    sum.containers += containers;
    sum.size += size;
  }
  return { containers: sum.containers / sets.length, size: sum.size / sets.length };
}

/** Milliseconds to count what combinations of sets share that are like these. */
export function costOfCombinations(combinations: number, sets: readonly Extent[]): number {
  const containers = Math.min(...sets.map((set) => set.containers));
  const columns = sets.reduce((sum, set) => sum + columnsOfEach(set), 0) / sets.length;
  return combinations * containers * meeting(columns);
}
