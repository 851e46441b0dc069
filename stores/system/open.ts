import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createAuditStore } from './audit-store';
import { openCredentialSeal } from './credential-key-store';
import { createFeedStore } from './feed-store';
import { createIdempotencyKeyStore } from './idempotency-key-store';
import { openMessageProofs } from './message-key-store';
import { createRateCountStore } from './rate-count-store';
import { createReportStore } from './report-store';
import { createTelemetryStore } from './telemetry-store';

/**
 * Opens the stores of the service itself.
 *
 * @param credentialKey what credentials are sealed with; a key of the stores when absent
 */
export const openSystemStores = (database: Database, credentialKey: string | undefined) =>
  openTogether({
    audit: createAuditStore(database),
    credentialSeal: openCredentialSeal(database, credentialKey),
    feed: createFeedStore(database),
    idempotencyKeys: createIdempotencyKeyStore(database),
    messageProofs: openMessageProofs(database),
    rates: createRateCountStore(database),
    reports: createReportStore(database),
    telemetry: createTelemetryStore(database),
  });
