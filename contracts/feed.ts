import type { TaskLocation } from './task';

/**
 * What every api replica hears about, in one gapless order. Entries are pointers: a replica that hears `run.events`
 * reads the events themselves, so an entry lost to a crash is made good by the next one.
 */
export type FeedMessage =
  | { type: 'task.changed'; taskId: string; change: 'created' | 'updated' | 'deleted' | 'moved'; location: TaskLocation; revision: number }
  | { type: 'run.events'; taskId: string; attemptId: string; upTo: number }
  | { type: 'agent.status' };
