import type { Counted, SegmentWork } from './counting';

/** What a thread is sent. It does one after the other, and answers each with what it has counted. */
export interface Task {
  /** Copies it has not seen yet, in memory that all threads share. */
  add: readonly (readonly [copy: number, bytes: Uint8Array])[];
  /** Copies that nobody asks for any more. */
  drop: readonly number[];
  work: readonly SegmentWork[];
}

export type Done = Counted;
