import type { RetentionKind } from '../../contracts/system/retention';

/** The schedule that purges one kind, and the id of what it starts. */
export const retentionId = (kind: RetentionKind): string => `retention-${kind}`;

/** A dry run, which removes nothing. */
export const dryRunId = (kind: RetentionKind): string => `retention-${kind}-dry-run`;

export interface RetentionInput {
  kind: RetentionKind;
  dryRun: boolean;
}
