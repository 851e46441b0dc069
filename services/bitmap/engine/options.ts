import type { Int } from '../int';
import type { TimeQuantum } from './time-quantum';

export const fieldTypes = ['set', 'int', 'time', 'mutex', 'bool'] as const;
export type FieldType = (typeof fieldTypes)[number];

export const cacheTypes = ['ranked', 'lru', 'none'] as const;
export type CacheType = (typeof cacheTypes)[number];

export const defaultCacheSize = 50_000;

export interface IndexOptions {
  /** Columns are named by texts. */
  keys: boolean;
  /** Stores which columns exist, for `Not`. */
  trackExistence: boolean;
}

/** Options of a field; which of them there are depends on the type. */
export interface FieldOptions {
  type: FieldType;
  /** Rows are named by texts. */
  keys: boolean;
  cacheType?: CacheType;
  cacheSize?: number;
  min?: Int;
  max?: Int;
  timeQuantum?: TimeQuantum;
  /** A time field stores no view without time. */
  noStandardView?: boolean;
}
