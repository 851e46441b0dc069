import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { idempotencyKey } from '../../../contracts/runs/launch/launch';
import type { TokenReport, tokenReportResponse } from '../../../contracts/system/telemetry';
import { capabilityEvidence } from '../../../domain/commands';
import { conflict, validationError } from '../../../platform/errors/app-error';
import { countSpend, recordSpend } from '../../../stores/governance/budgets/count-spend';
import type { WorkflowContext } from '../../context';
import { verifiedAttempt } from '../attempts/attempt';
import { idempotencyKeyReused } from '../idempotency-key';
import { assertReporter, type Reporter } from './callback-secret';

/**
 * Counts what exactly this attempt has used (specification 2, Launch rule 6). Under the same idempotency key it is
 * counted once, and a repetition is answered what was recorded, also after the end of the run.
 *
 * @throws AppError 403 when the attempt runs elsewhere and the reporter does not prove that it is its own; 409 when the attempt has ended, is of another agent, or of a provider that reports no usage, and for a key with another report than before
 */
export async function reportTokens(
  context: WorkflowContext,
  taskId: string,
  {
    body: { attemptId, totalTokens, callbackSecret: _secret, ...report },
    headerKey,
    reporter,
  }: { body: TokenReport; headerKey: string | undefined; reporter: Reporter },
): Promise<z.infer<typeof tokenReportResponse>> {
  const record = await verifiedAttempt(context, { taskId, attemptId });
  if (record.provider === 'remote-callback') {
    await assertReporter(context, record, reporter);
  }
  if (report.agent !== undefined && report.agent !== record.agent) {
    throw conflict(
      `The attempt belongs to the agent ${record.agent}.`,
      { attemptId, agent: record.agent },
      'AGENT_MISMATCH',
    );
  }
  const total = totalTokens ?? report.inputTokens + report.outputTokens;
  const key = parseKey(headerKey);
  const dedupeKey = key === undefined ? undefined : `${attemptId}\n${createHash('sha256').update(key).digest('hex')}`;
  const repeated =
    record.completion !== undefined &&
    dedupeKey !== undefined &&
    (await context.telemetry.isRecorded('run.tokens', dedupeKey));
  if (!repeated && (record.completion || record.startedAt === undefined)) {
    const message = record.completion ? 'The run has ended; its usage is final.' : 'The run is not running yet.';
    throw conflict(message, { attemptId, state: record.state }, record.completion ? 'RUN_ENDED' : 'RUN_NOT_STARTED');
  }
  const { usable, ...evidence } = capabilityEvidence(record.providerRuntimeManifest, 'token-usage', 'usage.tokens');
  if (!usable) {
    throw conflict(evidence.reason, { attemptId, ...evidence }, 'CAPABILITY_UNSUPPORTED');
  }

  const model = report.model ?? record.agentConfig.model ?? 'unknown';
  const { event, replayed, differs } = await context.telemetry.recordOnce(
    { type: 'run.tokens', taskId, attemptId, ...report, agent: record.agent, model, totalTokens: total },
    dedupeKey,
  );
  if (differs) {
    throw idempotencyKeyReused('report', { attemptId, eventId: event.id });
  }
  const response = {
    recorded: true,
    eventId: event.id,
    totalTokens: total,
    ...(replayed ? { replayed } : {}),
  } as const;
  const source = {
    taskId,
    attemptId,
    provider: record.provider,
    agent: record.agent,
    adapter: record.providerRuntimeManifest?.adapter ?? record.provider,
    model,
  };
  const { inputTokens, outputTokens, cost: costUsd = 0 } = report;
  // Before it is announced: a report that was acknowledged is counted in every budget.
  const spent = { key: event.id, tokens: inputTokens + outputTokens, costUsd, at: event.timestamp };
  if (repeated) {
    await recordSpend({ budgets: context.budgets, requests: context.admissionRequests }, record, [spent]);
    return response;
  }
  const exhausted = await countSpend(context, { record, source }, [spent]);
  await context.events.appendUnlessEnded(source, [
    {
      kind: 'usage.updated',
      payload: { ...report, model, totalTokens: total, telemetryEventId: event.id },
      dedupeKey: `tokens-${event.id}`,
    },
  ]);
  if (exhausted) {
    await context.runSignals.requestStop(attemptId, 'system:budget');
  }
  return response;
}

function parseKey(header: string | undefined): string | undefined {
  if (header === undefined) {
    return undefined;
  }
  const parsed = idempotencyKey.safeParse(header);
  if (parsed.success) {
    return parsed.data;
  }
  throw validationError(parsed.error.issues.map(({ message }) => ({ path: 'X-Idempotency-Key', message })));
}
