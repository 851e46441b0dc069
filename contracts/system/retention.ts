import { z } from 'zod';

/** What is retained for a while and then purged. */
export const retentionKind = z.enum(['tasks', 'run-events', 'traces', 'spools', 'workflow-runs']);
export type RetentionKind = z.infer<typeof retentionKind>;

/** What a purge has removed, or what it would remove. */
export const retentionReport = z
  .object({
    kind: retentionKind,
    dryRun: z.boolean(),
    /** How much was due. */
    due: z.number().int(),
    /** How much of it was removed; 0 of a dry run. */
    removed: z.number().int(),
    /** Ids of some of what was due. */
    examples: z.array(z.string()),
    /** Hosts that could not be reached; what is on them is purged the next time. */
    hostsAway: z.array(z.string()).optional(),
  })
  .meta({ id: 'RetentionReport' });
export type RetentionReport = z.infer<typeof retentionReport>;
