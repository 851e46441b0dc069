import type { WatchdogFinding, WatchdogOverride, WatchdogResolution } from '../../../contracts/runs/watchdog';
import { overrideKey, watchdogKey } from '../../../domain/watchdog';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { verifiedAttempt } from '../attempts/attempt';
import type { WatchdogContext } from './context';

interface OverrideRequest {
  taskId: string;
  findingId: string;
  attemptId: string;
  resolution: WatchdogResolution;
  reason: string;
}

/**
 * Decides about a finding (specification 2, Launch rule 11). The first decision stands; the same one again resumes whatever of
 * it was not done.
 *
 * @throws AppError 403 without local control of runs; 404 for a finding of another attempt; 409 `WATCHDOG_RESOLVED` when the
 *   finding was decided otherwise, `RUN_ENDED` when there is no run left to continue or to cancel
 */
export async function overrideFinding(
  context: WatchdogContext,
  request: OverrideRequest,
  auth: AuthContext,
): Promise<WatchdogOverride> {
  assertLocalControl(auth);
  const record = await verifiedAttempt(context, { taskId: request.taskId, attemptId: request.attemptId });
  const stored = await context.watchdog.finding(request.findingId);
  const finding = stored?.attemptId === record._id ? stored : undefined;
  assertFound(finding, 'finding', request.findingId);

  const first = await context.watchdog.overrideOf(request.findingId);
  const decided = first ?? (await decide(context, request, { record, auth }));
  if (decided.resolution !== request.resolution) {
    throw conflict(
      `The finding is already resolved: ${decided.resolution}.`,
      { findingId: decided.findingId, current: decided },
      'WATCHDOG_RESOLVED',
    );
  }
  if (decided.state === 'completed') {
    return decided;
  }
  await announce(context, record, decided);
  if (!(await carryOut(context, record, { finding, decided }))) {
    return decided;
  }
  return (await context.watchdog.completeOverride(decided.findingId, context.now().toISOString())) ?? decided;
}

/** Runs are controlled by people of their workspace, and not from a paired device. */
function assertLocalControl(auth: AuthContext): void {
  // A caller reaches the records of its own workspace alone.
  if (auth.authMethod !== 'device-session') {
    return;
  }
  throw new AppError('FORBIDDEN', {
    status: 403,
    message: 'This requires permission to control runs of this workspace.',
    details: { workspaceId: auth.workspaceId, authMethod: auth.authMethod },
  });
}

async function decide(
  { watchdog, now }: WatchdogContext,
  { findingId, taskId, attemptId, resolution, reason }: OverrideRequest,
  { record, auth: { actor } }: { record: AttemptRecord; auth: AuthContext },
): Promise<WatchdogOverride> {
  if (resolution !== 'acknowledge' && record.completion) {
    throw conflict(
      'The run has ended; the finding can only be acknowledged.',
      { attemptId, state: record.state, status: record.completion.status },
      'RUN_ENDED',
    );
  }
  const at = now().toISOString();
  return watchdog.override({
    schemaVersion: 'progress-watchdog-override/v1',
    findingId,
    taskId,
    attemptId,
    resolution,
    reason,
    actor,
    state: 'requested',
    createdAt: at,
    updatedAt: at,
  });
}

/** Appends the decision to the run's own log, once. A permission to continue is input from which the watchdog starts afresh. */
async function announce({ events }: WatchdogContext, record: AttemptRecord, decided: WatchdogOverride): Promise<void> {
  if (record.completion) {
    return;
  }
  const { findingId, resolution, reason, actor } = decided;
  const source = {
    taskId: record.taskId,
    attemptId: record._id,
    provider: record.provider,
    agent: record.agent,
    ...(record.agentConfig.model === undefined ? {} : { model: record.agentConfig.model }),
  };
  const prefix = resolution === 'continue' ? overrideKey : `${watchdogKey}${resolution}/`;
  const payload = { message: reason, watchdog: { findingId, resolution, actor } };
  await events.appendUnlessEnded(source, [{ kind: 'progress', payload, dedupeKey: `${prefix}${findingId}` }]);
}

/** Whether the decision has taken effect. */
async function carryOut(
  context: WatchdogContext,
  record: AttemptRecord,
  { finding, decided: { resolution, reason, actor } }: { finding: WatchdogFinding; decided: WatchdogOverride },
): Promise<boolean> {
  switch (resolution) {
    case 'acknowledge':
      return true;
    case 'cancel':
      return record.completion !== undefined || stopped(context, record, actor);
    case 'continue':
      return !(await isPaused(context, finding)) || resumed(context, record, { finding, reason, actor });
  }
}

/** Whether the agent was paused because of this finding, and has to be resumed. */
async function isPaused({ watchdog }: WatchdogContext, finding: WatchdogFinding): Promise<boolean> {
  const actions = await watchdog.actionsOf(finding);
  return actions.some(({ action, state }) => action === 'pause' && state === 'completed');
}

async function resumed(
  { runLauncher }: WatchdogContext,
  { _id: attemptId }: AttemptRecord,
  { finding: { id }, reason, actor }: { finding: WatchdogFinding; reason: string; actor: string },
): Promise<boolean> {
  const command = { type: 'message' as const, message: reason, actor, sentBy: actor };
  const answer = await unlessPending(() => runLauncher.command({ attemptId, commandId: `${id}-continue`, ...command }));
  // Without a run there is no agent to notify.
  return answer === undefined || (answer !== 'pending' && answer.delivered);
}

async function stopped(
  { runLauncher }: WatchdogContext,
  { _id: attemptId }: AttemptRecord,
  actor: string,
): Promise<boolean> {
  return (await unlessPending(() => runLauncher.stop(attemptId, actor))) !== 'pending';
}

/** A request that waits for a worker is requested, not failed. */
async function unlessPending<T>(call: () => Promise<T>): Promise<T | 'pending'> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AppError && error.status === 503) {
      return 'pending';
    }
    throw error;
  }
}
