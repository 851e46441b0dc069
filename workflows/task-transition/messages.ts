import type { Signed } from '../message-proofs';
import type { HookContext } from '../../contracts/hook';

/** One execution for each thing that happens to a task: noticed twice, it is told once. */
export const taskTransitionId = (transitionId: string): string => `task-transition/${transitionId}`;

/** Signed by the API that noticed it: receivers take what they are told for the board's word. */
export interface TaskTransitionInput extends Signed {
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

/** A hook is tried for a day, at most every hour. */
export const usualHookTimings: HookTimings = {
  firstPauseMs: 1_000,
  longestPauseMs: 3_600_000,
  giveUpAfterMs: 86_400_000,
};
