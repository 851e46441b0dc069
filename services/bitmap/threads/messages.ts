import type { Counted, SegmentWork } from './counting';

/** A message to a thread, which does one after the other, and responds to each with its counts. */
export interface Task {
  /** Copies it has not seen yet, in memory that all threads share. */
  add: readonly (readonly [copy: number, bytes: Uint8Array])[];
  /** Copies that no count needs any more. */
  drop: readonly number[];
  work: readonly SegmentWork[];
  /** When it is given up, in milliseconds since 1970. */
  until: number;
}

export type Done = Counted | 'expired';
