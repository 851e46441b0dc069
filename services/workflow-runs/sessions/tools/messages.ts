/** One time that the model of a session is asked for an answer. */
export interface RoundInput {
  /** Of the message. */
  id: string;
  /** 1, 2 …: a round that was answered is not asked again. Absent in workflows that are older than tools of sessions. */
  round?: number;
}

/**
 * What came of it: so many calls to make first, or, for an answer and for a message that gets none, none. `waiting`: the board, which has
 * the tools, cannot be asked now.
 */
export type AskedRound = { calls: number } | { waiting: true };

export interface SessionToolInput {
  /** Of the message. */
  id: string;
  round: number;
  /** The position of the call in its round. */
  index: number;
  /** How long its approval or its end is waited for, in milliseconds. */
  forMs: number;
  /** The approval that it waits for. */
  approvalId?: string;
  /** It is being made. */
  isSent?: boolean;
}

/** Where a call is; `superseded`: another message came, and no further one is to be made. */
export type SessionToolProgress =
  | { state: 'approval'; approvalId: string }
  | { state: 'running' }
  | { state: 'waiting' }
  | { state: 'ended' }
  | { state: 'superseded' };
