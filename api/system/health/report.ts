import type { PartStatus } from '../../../contracts/system/health';
import { compact } from '../../../platform/json/compact';
import type { Log } from '../../../platform/log/log';
import { createRedactor } from '../../../platform/log/redact';
import { within } from '../../../platform/operations/within';
import { cut } from '../../../platform/text/cut';
import type { HealthCheck, HealthFinding } from './checks';

/** One part as it was read. */
export interface PartReport {
  status: PartStatus;
  ms: number;
  reason?: string;
  [fact: string]: unknown;
}

export interface HealthReport {
  parts: Record<string, PartReport>;
  timestamp: string;
}

/** A check that does not respond in this time has failed, in milliseconds. */
const checkTimeoutMs = 2_000;
/** Health may be polled; the checks are not made more often than this, in milliseconds. */
const freshForMs = 1_000;
const maxReason = 500;

/**
 * Makes every check at once, for concurrent and slightly later callers too. A check that hangs is not made a second time while it
 * hangs, so that polling cannot pile up calls to what does not respond.
 */
export function createHealthReport(checks: Record<string, HealthCheck>, log: Log): () => Promise<HealthReport> {
  const redact = createRedactor();
  const running = new Map<string, Promise<HealthFinding | undefined>>();
  let latest: { at: number; report: Promise<HealthReport> } | undefined;

  const run = (name: string, check: HealthCheck): Promise<HealthFinding | undefined> => {
    const hanging = running.get(name);
    if (hanging) {
      return hanging;
    }
    const started = check().finally(() => running.delete(name));
    running.set(name, started);
    return started;
  };

  const readPart = async (name: string, check: HealthCheck): Promise<PartReport> => {
    const startedAt = performance.now();
    const ms = () => Math.round(performance.now() - startedAt);
    try {
      const { facts, warning } =
        (await within(checkTimeoutMs, `no response within ${checkTimeoutMs} ms`, run(name, check))) ?? {};
      return { ...facts, status: warning === undefined ? 'ok' : 'warning', ms: ms(), ...compact({ reason: warning }) };
    } catch (error) {
      log.warn({ check: name, err: error }, 'health check failed');
      const reason = redact(error instanceof Error ? error.message : String(error));
      return { status: 'failed', ms: ms(), reason: cut(reason, maxReason) };
    }
  };

  const read = async (): Promise<HealthReport> => {
    const parts = await Promise.all(
      Object.entries(checks).map(async ([name, check]): Promise<[string, PartReport]> => [
        name,
        await readPart(name, check),
      ]),
    );
    return { parts: Object.fromEntries(parts), timestamp: new Date().toISOString() };
  };

  return () => {
    if (!latest || Date.now() - latest.at > freshForMs) {
      latest = { at: Date.now(), report: read() };
    }
    return latest.report;
  };
}
