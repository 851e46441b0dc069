import type { RunUsage } from '../contracts/system/telemetry';

/** Maximum models that are distinguished; the usage of further ones is counted as `other`. */
const maxModels = 32;

/** Sums of decimal fractions: what is below a billionth is noise. */
const exact = (value: number): number => Math.round(value * 1e9) / 1e9;

export const addUsage = (a: RunUsage, b: RunUsage): RunUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheTokens: a.cacheTokens + b.cacheTokens,
  cost: exact(a.cost + b.cost),
});

/**
 * What a run used of each model, from the payloads of its `usage.updated` events. Those that came over HTTP were counted
 * when they came.
 */
export async function usageByModel(
  payloads: AsyncIterable<Record<string, unknown>> | Iterable<Record<string, unknown>>,
  defaultModel: string,
): Promise<Map<string, RunUsage>> {
  const models = new Map<string, RunUsage>();
  for await (const payload of payloads) {
    if (typeof payload.telemetryEventId === 'string') {
      continue;
    }
    const modelName = typeof payload.model === 'string' && payload.model !== '' ? payload.model : defaultModel;
    const model = models.has(modelName) || models.size < maxModels ? modelName : 'other';
    const used = usageOf(payload);
    const before = models.get(model);
    models.set(model, before ? addUsage(before, used) : used);
  }
  return models;
}

/** What one event reports. */
const usageOf = (payload: Record<string, unknown>): RunUsage => ({
  inputTokens: Math.round(amountOf(payload.inputTokens)),
  outputTokens: Math.round(amountOf(payload.outputTokens)),
  cacheTokens: Math.round(amountOf(payload.cacheTokens)),
  cost: amountOf(payload.cost),
});

/** An event of a run, as its log has it. */
interface LoggedEvent {
  attemptId: string;
  sequence: number;
  kind: string;
  payload: Record<string, unknown>;
  receivedAt?: string | undefined;
}

/** What budgets count of an event: nothing of those that are no use, and of use that came over HTTP and was counted then. */
export function spentBy({ attemptId, sequence, kind, payload, receivedAt }: LoggedEvent) {
  if (kind !== 'usage.updated' || typeof payload.telemetryEventId === 'string' || receivedAt === undefined) {
    return [];
  }
  const { inputTokens, outputTokens, cost } = usageOf(payload);
  const key = `${attemptId}/${sequence}`;
  return [{ key, tokens: inputTokens + outputTokens, costUsd: cost, at: receivedAt }];
}

/** A number an agent may have made up: nothing below zero, nothing endless. */
const amountOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(value, 1e12) : 0;
