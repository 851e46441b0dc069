import type { DispatchDependencies } from './dependencies';
import { untilSpace } from './until-space';

/** For what cannot be recorded later: see `untilSpace`. A worker that detaches its agents leaves them waiting. */
export function spaceFor(
  deps: Pick<DispatchDependencies, 'log' | 'leaving' | 'stopping'>,
): <T>(work: () => Promise<T>) => Promise<T> {
  const ending = AbortSignal.any([deps.stopping, deps.leaving]);
  return (work) => untilSpace(work, { log: deps.log, ending });
}
