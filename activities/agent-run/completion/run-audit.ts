import type { CompletionResult } from '../../../contracts/runs/completion';
import type { RunRecovery } from '../../../contracts/runs/recovery';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { AuditInput } from '../../../stores/system/audit-store';

/** The audit entries of the life of a run: each of them once, however often its activity is repeated. */

/** The actor of changes that no person requested at that moment. */
export const runSystem = 'system:run';

/** The start of an attempt, for the actor who launched it or the attempt that it follows. */
export const runStarted = ({
  _id,
  taskId,
  agent,
  provider,
  phase,
  parentAttemptId,
  ...record
}: AttemptRecord): AuditInput => ({
  action: 'run.start',
  actor: record.createdBy,
  resource: _id,
  details: {
    taskId,
    agent,
    provider,
    phase,
    parentAttemptId: parentAttemptId ?? null,
    runLaunchManifestDigest: record.runLaunchManifest?.digest ?? null,
  },
  once: `run.start/${_id}`,
});

/** The end of an attempt; the actor of a stop has an entry of their own. */
export const runEnded = (
  { _id, taskId, agent }: AttemptRecord,
  { status, terminalSource, digest }: CompletionResult,
): AuditInput => ({
  action: 'run.end',
  actor: runSystem,
  resource: _id,
  details: { taskId, agent, status, terminalSource, completionDigest: digest },
  once: `run.end/${_id}`,
});

/** What follows a failed attempt. */
export const recoveryScheduled = ({ attemptId, taskId, ...recovery }: RunRecovery): AuditInput => ({
  action: 'recovery.schedule',
  actor: runSystem,
  resource: attemptId,
  details: {
    taskId,
    failureClass: recovery.failureClass,
    follows: recovery.action,
    nextAttemptId: recovery.nextAttemptId ?? null,
  },
  once: `recovery.schedule/${attemptId}`,
});

/** The refusal of the attempt that was to follow a failed one. */
export const recoveryRefused = (
  { _id, taskId, agent }: Pick<AttemptRecord, '_id' | 'taskId' | 'agent'>,
  parentAttemptId: string,
  code: string,
): AuditInput => ({
  action: 'recovery.refuse',
  actor: runSystem,
  resource: parentAttemptId,
  details: { taskId, agent, nextAttemptId: _id, code },
  once: `recovery.refuse/${parentAttemptId}`,
});
