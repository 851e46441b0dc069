import { z } from 'zod';
import { digest, timestamp } from '../common';
import { listPage, moment, nextCursor } from '../query';

const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11');

/** One action of an actor, chained to the one before it: no entry can be changed or removed unnoticed. */
export const auditEntry = z
  .object({
    /** 1, 2, 3 … over all months, without gaps. */
    sequence: z.number().int().min(1),
    timestamp,
    /** What was done, e.g. `task.delete`. */
    action: z.string(),
    /** Who did it, e.g. `agent:worker`. */
    actor: z.string(),
    /** What it was done to, e.g. a task's id. */
    resource: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
    /** The `hash` of the entry before; absent in the first one. */
    previousHash: digest.optional(),
    /** SHA-256 of the canonical JSON (RFC 8785) of everything else in the entry. */
    hash: digest,
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntry>;

export const auditQuery = z
  .strictObject({
    action: z.string().max(100).optional(),
    actor: z.string().max(200).optional(),
    resource: z.string().max(200).optional(),
    since: moment.optional(),
    until: moment.optional(),
    /** Entries before this sequence. */
    before: z.coerce.number().int().min(1).optional(),
    ...listPage(100, 1000),
  })
  .meta({ id: 'AuditQuery' });
export type AuditQuery = z.output<typeof auditQuery>;

export const auditPage = z
  .object({ entries: z.array(auditEntry), count: z.number().int(), nextCursor })
  .meta({ id: 'AuditPage' });

export const auditVerifyQuery = z.strictObject({ month: month.optional() });

/** An entry at which the chain is broken. */
export const auditBreak = z.object({
  sequence: z.number().int(),
  reason: z.enum(['changed', 'missing', 'not-chained', 'cut-off']),
  message: z.string(),
});
export type AuditBreak = z.infer<typeof auditBreak>;

/** Whether the chain of one month is intact; up to 100 breaks are named. */
export const auditVerification = z
  .object({
    valid: z.boolean(),
    month,
    entries: z.number().int(),
    firstBroken: z.number().int().optional(),
    broken: z.array(auditBreak),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof auditVerification>;
