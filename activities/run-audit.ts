import type { CompletionResult } from '../contracts/completion';
import type { RunRecovery } from '../contracts/recovery';
import type { AttemptRecord } from '../stores/attempt-store';
import type { AuditInput } from '../stores/audit-store';

/** What the audit log says of the life of a run: each of it once, however often the activity is repeated that says so. */

/** Who has done what nobody asked for at that moment. */
export const runSystem = 'system:run';

/** The start of an attempt, for whoever has launched it or the attempt that it follows. */
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

/** The end of an attempt; who stopped it has an entry of their own. */
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

/** That what was to follow a failed attempt was refused. */
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
