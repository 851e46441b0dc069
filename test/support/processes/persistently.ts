import { eventually } from '../../../platform/testing/eventually';

/** Repeats a call that may meet a dead process, as a caller with an idempotency key does. */
export const persistently = <T>(call: () => Promise<T>): Promise<T> => eventually(call, { everyMs: 200 });
