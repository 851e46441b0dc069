import type { BreakerSignal, Capacity } from '../../contracts/runs/admission';
import type { FanOutBreaker } from '../../contracts/settings/settings';
import type { CapacityPolicy, Usage } from './capacity';

/** The breaker's inputs when a tree is to grow by one node. */
export interface TreeLoad {
  /** Nodes besides the root, without the one that is to come. */
  descendants: number;
  /** Of the one that is to come; the root's children have 1. */
  depth: number;
  /** Run slots that the tree holds. */
  activeReservations: number;
  queuedDescendants: number;
}

/**
 * Why a tree must not grow now (specification 2, Admission rule 6); empty when it may. Pressure counts once a tree has a number
 * of descendants: a small tree does not cause the pressure of a busy board.
 */
export function breakerSignals(
  breaker: FanOutBreaker,
  load: TreeLoad,
  pressure: { policies: CapacityPolicy[]; usage: Usage; requested: Capacity },
): BreakerSignal[] {
  if (!breaker.enabled) {
    return [];
  }
  const over = (signal: BreakerSignal['signal'], current: number, limit: number): BreakerSignal[] =>
    current > limit ? [{ signal, current, limit }] : [];
  return [
    ...over('descendant-limit', load.descendants + 1, breaker.maxDescendants),
    ...over('depth-limit', load.depth, breaker.maxDepth),
    ...over('active-reservation-limit', load.activeReservations + 1, breaker.maxActiveReservations),
    ...over('queued-descendant-limit', load.queuedDescendants + 1, breaker.maxQueuedDescendants),
    ...(load.descendants >= breaker.pressureMinDescendants ? pressureSignals(breaker, pressure) : []),
  ];
}

function pressureSignals(
  { pressurePercent }: FanOutBreaker,
  { policies, usage, requested }: { policies: CapacityPolicy[]; usage: Usage; requested: Capacity },
): BreakerSignal[] {
  return policies.flatMap(({ key, resource, limit, scope, scopeId }): BreakerSignal[] => {
    const percent = (((usage[key]?.[resource] ?? 0) + requested[resource]) / limit) * 100;
    if (percent < pressurePercent) {
      return [];
    }
    return [{ signal: 'capacity-pressure', current: Math.round(percent), limit: pressurePercent, scope, scopeId }];
  });
}
