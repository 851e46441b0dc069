import type { BoardNotice } from './watch';

/**
 * What every api replica receives, in one gapless order. Entries are pointers: a replica that receives `run.events` reads the
 * events themselves, so an entry lost to a crash is made good by the next one. Only messages are carried along, so that they
 * are published in their order. Changes of tasks are not here: every replica's index of the board files notices them by itself.
 */
export type FeedMessage =
  | { type: 'run.events'; taskId: string; attemptId: string; upTo: number }
  | { type: 'agent.status' }
  | { type: 'run-approval.changed'; approvalId: string; taskId: string; attemptId: string }
  | { type: 'notice'; notice: BoardNotice };
