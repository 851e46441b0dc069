import type { JsonLimits } from '../../platform/json/bounded';

/** Bounds of one line of the process protocol; what fits them is then cut to the bounds of an event. */
export const lineLimits: JsonLimits = { depth: 64, values: 20_000, nameLength: 1_024 };

/** Bounds of one message of the Agent Client Protocol, which may carry a whole file. */
export const frameLimits: JsonLimits = { depth: 64, values: 100_000, nameLength: 1_024 };
