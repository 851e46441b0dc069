import type { Stage } from '../run';
import type { Outcome } from './edges';

/** Where a walk through a graph is. Plain data: a continued execution resumes the walk from it. */
export interface Cursor {
  /** The node it is at, or comes to next. */
  at: string;
  /** The stage under way there. */
  underWay?: StageUnderWay;
  /** Of a parallel node whose branches have begun. */
  branches?: Branch[];
}

export interface StageUnderWay {
  stage: Stage;
  /** When its wait ends, in milliseconds since 1970; absent when it has no end. */
  untilMs?: number;
  /** The next attempt of its prompt: 1, 2 …; absent before the first has ended. */
  attempt?: number;
  /** The number of its last launch; absent until one was not admitted. */
  launch?: number;
  /** Which of the fallback models is asked, 1 for the first, and its first attempt; absent for the node's own model. */
  fallback?: { at: number; from: number };
}

export interface Branch {
  /** The node it began with. */
  name: string;
  cursor: Cursor;
  /** How it came to the join; absent until then. */
  outcome?: Outcome;
}

/** The stages under way in a walk and its branches. */
export function stagesUnderWay({ underWay, branches = [] }: Cursor): Stage[] {
  return [...(underWay ? [underWay.stage] : []), ...branches.flatMap(({ cursor }) => stagesUnderWay(cursor))];
}
