import type { WatcherQuestion } from '../../contracts/governance/watcher-policy';
import type { WatcherSettings } from '../../contracts/settings/settings';
import { decideContinuation, type WatcherDecision } from '../../domain/governance/watcher-policy';
import type { TraceStore } from './trace-store';

const outcomes = { allow: 'allowed', approval: 'approval-required', blocked: 'blocked' } as const;

/** Decides whether a run may continue by itself, and records why, without anything of the prompt. */
export async function decideAndTrace(
  traces: Pick<TraceStore, 'record'>,
  watcher: WatcherSettings,
  { prompt, ...about }: WatcherQuestion,
): Promise<WatcherDecision & { traceId: string }> {
  const decided = decideContinuation(watcher, { prompt, ...about });
  const { decision, reasons, riskClasses, evidence } = decided;
  const traceId = await traces.record({
    kind: 'policy',
    outcome: outcomes[decision],
    title: `Continuation of ${about.runId}: ${decision}`,
    summary: reasons.join(' '),
    subject: {
      actionType: 'run.continue',
      ...(about.agent && { agentId: about.agent }),
      ...(about.taskId && { taskId: about.taskId }),
    },
    raw: { ...about, watcher, riskClasses, evidence },
  });
  return { ...decided, traceId };
}

/** The audit entry of a decision; neither it nor the trace has anything of the prompt. */
export const auditOf = (
  { runId, taskId, agent }: Pick<WatcherQuestion, 'runId' | 'taskId' | 'agent'>,
  { decision, mode, riskLevel, riskClasses }: WatcherDecision,
) => ({
  action: 'watcher-policy.evaluate',
  resource: runId,
  details: { decision, mode, riskLevel, riskClasses, ...(taskId && { taskId }), ...(agent && { agent }) },
});
