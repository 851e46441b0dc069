import type { CompletionResult } from '../../../contracts/runs/completion';
import type { RunEvent } from '../../../contracts/runs/event';
import { maxDurationMs, type RunUsage } from '../../../contracts/system/telemetry';
import { addUsage, usageByModel } from '../../../domain/usage';
import { compact } from '../../../platform/json/compact';
import { allDone } from '../../../platform/operations/all-done';
import { cut } from '../../../platform/text/cut';
import type { Budgets } from '../../../stores/governance/budgets/budgets';
import { recordSpend } from '../../../stores/governance/budgets/count-spend';
import type { AdmissionRequestStore } from '../../../stores/runs/admission/admission-request-store';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import type { RunEventStore } from '../../../stores/runs/event-store';
import type { TelemetryStore } from '../../../stores/system/telemetry-store';
import { usageEvents, usageReports } from './usage-reports';

interface TelemetryDependencies {
  telemetry: TelemetryStore;
  events: Pick<RunEventStore, 'read'>;
  attempts: Pick<AttemptStore, 'recordUsage' | 'usages'>;
  budgets: Budgets;
  admission: { requests: Pick<AdmissionRequestStore, 'get'> };
}

/** The most attempts of one task whose cost is added up. */
const maxAttempts = 1_000;

/** Reports that a run has begun, once however often it is called. */
export async function reportStart(
  { telemetry }: { telemetry: Pick<TelemetryStore, 'record'> },
  record: AttemptRecord,
): Promise<void> {
  if (record.startedAt === undefined) {
    return;
  }
  await telemetry.record({ type: 'run.started', ...about(record), timestamp: record.startedAt }, record._id);
}

/**
 * Reports how a run ended and what it used, once however often it is called: one event for its end, and one for each model from
 * the agent's own events. Usage that the agent reported over HTTP is there already.
 *
 * @returns what all attempts of the task have cost
 */
export async function reportEnd(
  deps: TelemetryDependencies,
  record: AttemptRecord,
  completion: CompletionResult,
): Promise<number> {
  await allDone([
    reportStart(deps, record),
    countSpend(deps, record),
    reportTokens(deps, record, completion),
    ...(record.startedAt === undefined
      ? []
      : [reportCompleted(deps, record, completion), reportEgress(deps, record, completion)]),
  ]);
  await deps.attempts.recordUsage(record._id, await deps.telemetry.usageOf(record._id));
  const usages = await deps.attempts.usages(record.taskId, maxAttempts);
  return usages.reduce(addUsage, noUsage).cost;
}

const noUsage: RunUsage = { inputTokens: 0, outputTokens: 0, cacheTokens: 0, cost: 0 };

async function countSpend(deps: TelemetryDependencies, record: AttemptRecord): Promise<void> {
  await recordSpend({ ...deps, ...deps.admission }, record, await usageReports(deps.events, record._id));
  await deps.budgets.ledger.caughtUp();
}

async function reportTokens(
  { events, telemetry }: TelemetryDependencies,
  record: AttemptRecord,
  { completedAt: timestamp }: CompletionResult,
): Promise<void> {
  const payloads = payloadsOf(usageEvents(events, record._id));
  const models = await usageByModel(payloads, record.agentConfig.model ?? 'unknown');
  for (const [model, used] of models) {
    const dedupeKey = `${record._id}\n${model}`;
    await telemetry.record({ type: 'run.tokens', ...about(record), model, ...used, timestamp }, dedupeKey);
  }
}

async function reportCompleted(
  { telemetry }: TelemetryDependencies,
  record: AttemptRecord,
  { completedAt, status, error, harness }: CompletionResult,
): Promise<void> {
  const elapsed = harness.durationMs ?? Date.parse(completedAt) - Date.parse(record.startedAt ?? completedAt);
  await telemetry.record(
    {
      type: 'run.completed',
      ...about(record),
      durationMs: Math.min(Math.max(elapsed, 0), maxDurationMs),
      success: status === 'success',
      status,
      ...compact({ error: error === undefined ? undefined : cut(error, 2_000) }),
      timestamp: completedAt,
    },
    record._id,
  );
}

/** What left the sandbox of the run by its proxy, and what was not let out; where it went is in the run's events. */
async function reportEgress(
  { telemetry }: TelemetryDependencies,
  record: AttemptRecord,
  { completedAt, harness }: CompletionResult,
): Promise<void> {
  const { egress, presetId } = harness.sandbox ?? {};
  if (!egress || presetId === undefined) {
    return;
  }
  const { allowed, denied } = egress;
  const details = { presetId, allowed, denied };
  const event = { type: 'network.egress' as const, ...about(record), timestamp: completedAt, details };
  await telemetry.record(event, `${record._id}\nnetwork.egress`);
}

const about = ({ _id, taskId, agent, objective }: AttemptRecord) => ({
  taskId,
  attemptId: _id,
  agent,
  ...(objective.context.project === null ? {} : { project: objective.context.project }),
});

async function* payloadsOf(events: AsyncIterable<RunEvent>) {
  for await (const { payload } of events) {
    yield payload;
  }
}
