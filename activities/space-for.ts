import type { DispatchDependencies } from './dispatch-dependencies';
import { untilSpace } from './until-space';

/** Of what cannot be said again later: see `untilSpace`. A worker that leaves its agents to the next one leaves them waiting. */
export function spaceFor(
  deps: Pick<DispatchDependencies, 'log' | 'leaving' | 'stopping'>,
): <T>(work: () => Promise<T>) => Promise<T> {
  const ending = AbortSignal.any([deps.stopping, deps.leaving]);
  return (work) => untilSpace(work, { log: deps.log, ending });
}
