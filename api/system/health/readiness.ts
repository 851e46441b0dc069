import type { Log } from '../../../platform/log/log';
import type { HealthCheck } from './checks';

export interface Readiness {
  status: 'ok' | 'unavailable';
  checks: Record<string, 'ok' | 'failed'>;
  timestamp: string;
}

/** A check that does not respond in this time has failed, in milliseconds. */
const checkTimeoutMs = 2_000;
/** Readiness is public and may be polled; the checks are not made more often than this, in milliseconds. */
const freshForMs = 1_000;

async function bounded(check: HealthCheck): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${checkTimeoutMs} ms`)), checkTimeoutMs);
  });
  try {
    await Promise.race([check(), expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Makes every check at once, for concurrent and slightly later callers too; the reason of a failure is only logged. */
export function createReadiness(checks: Record<string, HealthCheck>, log: Log): () => Promise<Readiness> {
  let latest: { at: number; readiness: Promise<Readiness> } | undefined;

  const look = async (): Promise<Readiness> => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]): Promise<[string, 'ok' | 'failed']> => {
        try {
          await bounded(check);
          return [name, 'ok'];
        } catch (error) {
          log.warn({ check: name, err: error }, 'readiness check failed');
          return [name, 'failed'];
        }
      }),
    );
    const ready = results.every(([, result]) => result === 'ok');
    return {
      status: ready ? 'ok' : 'unavailable',
      checks: Object.fromEntries(results),
      timestamp: new Date().toISOString(),
    };
  };

  return () => {
    if (!latest || Date.now() - latest.at > freshForMs) {
      latest = { at: Date.now(), readiness: look() };
    }
    return latest.readiness;
  };
}
