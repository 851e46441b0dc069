import { z } from 'zod';

/**
 * Of one part. `warning`: requests are served, but runs are not, or a person has to act. `failed`: the part does not work, or did
 * not respond in time.
 */
export const partStatus = z.enum(['ok', 'warning', 'failed']);
export type PartStatus = z.infer<typeof partStatus>;

/** Of the whole: `degraded` when a part has failed, and `warning` when one warns. */
export const overallStatus = z.enum(['ok', 'warning', 'degraded']);

export const liveness = z.object({ status: z.literal('ok'), timestamp: z.iso.datetime() }).meta({ id: 'Liveness' });

export const readiness = z
  .object({
    status: z.enum(['ok', 'unavailable']),
    checks: z.record(z.string(), z.enum(['ok', 'failed'])),
    timestamp: z.iso.datetime(),
  })
  .meta({ id: 'Readiness' });
export type Readiness = z.infer<typeof readiness>;

export const serviceHealth = z
  .object({
    ok: z.literal(true),
    service: z.string(),
    version: z.string(),
    uptimeMs: z.number().int(),
    timestamp: z.iso.datetime(),
  })
  .meta({ id: 'ServiceHealth' });

/** The status of every part, for callers who may not read why. */
export const systemHealth = z
  .object({
    status: overallStatus,
    parts: z.record(z.string(), partStatus),
    timestamp: z.iso.datetime(),
  })
  .meta({ id: 'SystemHealth' });

const part = z.object({
  status: partStatus,
  /** How long it took to read, in milliseconds. */
  ms: z.number().int(),
  /** Why it is not `ok`; secrets are redacted. */
  reason: z.string().optional(),
});
const count = z.number().int().nonnegative();

/** Hosts that are listed; the counts are of all that are live. */
export const maxListedHosts = 100;
/** Circuit breakers that are listed; the counts are of all. */
export const maxListedCircuits = 100;

const workers = part.extend({
  hosts: count.optional(),
  workers: count.optional(),
  /** Workers that take no new work. */
  draining: count.optional(),
  items: z
    .array(
      z.object({ id: z.string(), hostname: z.string(), seenAt: z.iso.datetime(), workers: count, draining: count }),
    )
    .max(maxListedHosts)
    .optional(),
});

const circuitBreakers = part.extend({
  open: count.optional(),
  halfOpen: count.optional(),
  /** Execution trees that may not grow. */
  pausedTrees: count.optional(),
  /** Those that are not closed. */
  items: z
    .array(
      z.object({
        hostId: z.string(),
        agent: z.string(),
        state: z.enum(['open', 'half-open']),
        failures: count,
        retryAt: z.iso.datetime().optional(),
      }),
    )
    .max(maxListedCircuits)
    .optional(),
});

/** Every part with its facts, which are absent where it could not be read. */
export const deepHealth = z
  .object({
    status: overallStatus,
    service: z.string(),
    version: z.string(),
    nodeVersion: z.string(),
    startedAt: z.iso.datetime(),
    uptimeMs: count,
    timestamp: z.iso.datetime(),
    /** Of this replica. */
    webSocket: z.object({ connections: count, limit: count }),
    parts: z.strictObject({
      storage: part.extend({ kind: z.enum(['sqlite', 'mongo']).optional() }).optional(),
      memory: part.extend({ usedBytes: count.optional(), limitBytes: count.optional() }).optional(),
      disk: part.extend({ freeMb: count.optional(), requiredMb: count.optional() }).optional(),
      git: part.optional(),
      temporal: part.extend({ namespace: z.string().optional(), serverVersion: z.string().optional() }).optional(),
      workers: workers.optional(),
      circuitBreakers: circuitBreakers.optional(),
      queue: part
        .extend({ depth: count.optional(), oldestEnqueuedAt: z.iso.datetime().nullable().optional() })
        .optional(),
    }),
  })
  .meta({ id: 'DeepHealth' });
