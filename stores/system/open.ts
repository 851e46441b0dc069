import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createAuditStore } from './audit-store';
import { createFeedStore } from './feed-store';
import { createIdempotencyKeyStore } from './idempotency-key-store';
import { openMessageProofs } from './message-key-store';
import { createRateCountStore } from './rate-count-store';
import { createReportStore } from './report-store';
import { createTelemetryStore } from './telemetry-store';

/** Opens the stores of the service itself. */
export const openSystemStores = (database: Database) =>
  openTogether({
    audit: createAuditStore(database),
    feed: createFeedStore(database),
    idempotencyKeys: createIdempotencyKeyStore(database),
    messageProofs: openMessageProofs(database),
    rates: createRateCountStore(database),
    reports: createReportStore(database),
    telemetry: createTelemetryStore(database),
  });
