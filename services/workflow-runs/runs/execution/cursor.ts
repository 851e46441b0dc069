import type { Stage, Usage } from '../run';
import type { Outcome } from './edges';

/** Where a walk through a graph is. Plain data: a continued execution resumes the walk from it. */
export interface Cursor {
  /** The node it is at, or comes to next. */
  at: string;
  /** The last visit of a node, its events' name; absent before the first, and in states of earlier versions. */
  visit?: string;
  /** The stage under way there. */
  underWay?: StageUnderWay;
  /** Of a parallel node whose branches have begun. */
  branches?: Branch[];
}

export interface StageUnderWay {
  stage: Stage;
  /** The hooks of its start have run. */
  started?: true;
  /** When its wait ends, in milliseconds since 1970; absent when it has no end. */
  untilMs?: number;
  /** The next attempt of its prompt: 1, 2 …; absent before the first has ended. */
  attempt?: number;
  /** The number of its last launch; absent until one was not admitted. */
  launch?: number;
  /** Of a launch whose output did not fit its schema: what it was, and what is wrong with it. */
  repair?: { output: string; problem: string };
  /** How many of its attempts were for a repair. */
  repaired?: number;
  /** Which of the fallback models is asked, 1 for the first, and its first attempt; absent for the node's own model. */
  fallback?: { at: number; from: number };
  /** Of a map. */
  map?: MapUnderWay;
  /** Of an agent. */
  agent?: AgentUnderWay;
  /** Of a call of a tool: until when it is waited for, in milliseconds since 1970, and the approval that it waits for. */
  tool?: { untilMs?: number; approvalId?: string };
  /** Of a prompt whose model calls tools: its turn, 1, 2 …, the call of it that is next, and what the turns before have used. */
  talk?: { turn: number; at: number; retries: number; used: Usage };
  /** The child run it waits for, and until when, in milliseconds since 1970; absent where it waits for ever. */
  child?: { id: string; untilMs?: number };
}

/** How far the launch of an agent has come. */
export interface AgentUnderWay {
  /** How often the board has refused it for now: another try is another launch. */
  refusals: number;
  taskId?: string;
  /** The attempt that is waited for; absent until it is launched. */
  attemptId?: string;
  /** The agent of that attempt; absent until the board has named it. */
  name?: string;
  /** Until when, in milliseconds since 1970; absent where it waits for ever. */
  untilMs?: number;
  /** What the attempts before have used. */
  used: Usage;
}

/** An item of a map that is under way. */
export interface ItemUnderWay extends StageUnderWay {
  /** Its position in the list: 0, 1, 2 … */
  index: number;
}

/** How far a map has come; its list and outputs are among the lists of the run's progress. */
export interface MapUnderWay {
  /** The position of the item that is begun next. */
  next: number;
  failures: { index: number; error: string }[];
  items: ItemUnderWay[];
  /** Why no further item is begun, but for failures. */
  stopped?: string;
}

export interface Branch {
  /** The node it began with. */
  name: string;
  cursor: Cursor;
  /** How it came to the join; absent until then. */
  outcome?: Outcome;
  /** It was cancelled when another one had decided. */
  cancelled?: true;
}

/** The stages under way in a walk and its branches. */
export function stagesUnderWay({ underWay, branches = [] }: Cursor): Stage[] {
  const items = underWay?.map?.items ?? [];
  return [
    ...items.map(({ stage }) => stage),
    ...(underWay ? [underWay.stage] : []),
    ...branches.flatMap(({ cursor }) => stagesUnderWay(cursor)),
  ];
}
