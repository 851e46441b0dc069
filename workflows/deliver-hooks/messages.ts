import type { HookContext } from '../../contracts/settings/hook';
import type { Signed } from '../message-proofs';

/** One execution for each transition of a task: observed twice, it is delivered once. */
export const deliverHooksId = (transitionId: string): string => `task-transition/${transitionId}`;

/** The ids of what was fired by hand begin with it; those of transitions begin with the id of their task. */
export const firedPrefix = 'fired/';

/** Signed by the API that observed it: receivers trust it as the board's. */
export interface DeliverHooksInput extends Signed {
  id: string;
  context: HookContext;
  /** How long each hook is tried; settings, shortened by tests. */
  timings: HookTimings;
}

export interface HookTimings {
  firstPauseMs: number;
  longestPauseMs: number;
  giveUpAfterMs: number;
}

/** A hook is tried for a day, every hour or more often. */
export const usualHookTimings: HookTimings = {
  firstPauseMs: 1_000,
  longestPauseMs: 3_600_000,
  giveUpAfterMs: 86_400_000,
};
