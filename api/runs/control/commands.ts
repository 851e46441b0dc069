import { createHash, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { AgentCommandType, CommandResponse, commandTarget } from '../../../contracts/runs/command';
import { capabilityEvidence, commandCapability } from '../../../domain/commands';
import { AppError, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';
import { verifiedAttempt } from '../attempts/attempt';
import { idempotencyKeyReused, parseIdempotencyKey } from '../idempotency-key';

interface CommandRequest extends z.infer<typeof commandTarget> {
  message?: string;
  actor?: string | undefined;
}

interface CommandCaller {
  auth: AuthContext;
  /** The header `X-Idempotency-Key`: the same key is the same command. */
  headerKey: string | undefined;
}

/**
 * Sends a command to the agent of exactly this attempt and returns its outcome. The same idempotency key is the same command,
 * whose outcome is returned again.
 *
 * @throws AppError 409 when the run has ended, is not running yet, or does not support the command (with evidence)
 */
export async function sendCommand(
  context: WorkflowContext,
  taskId: string,
  {
    type,
    request: { message, actor, ...target },
    caller: { auth, headerKey },
  }: { type: AgentCommandType; request: CommandRequest; caller: CommandCaller },
): Promise<CommandResponse> {
  const record = await verifiedAttempt(context, { taskId, attemptId: target.attemptId, stated: target });
  const commandId = commandIdOf(headerKey);
  const command = await context.commands.get(record._id, commandId);
  if (command && (command.type !== type || command.message !== message)) {
    throw idempotencyKeyReused('command', { attemptId: record._id, action: command.type });
  }
  if (command?.settledAt !== undefined) {
    return { ...answerOf(command), replayed: true };
  }
  // A stored command may be on its way to the agent: its outcome is the run's to report, also after its end.
  if (!command) {
    checkRuns(record);
  }
  checkCapability(record, type);
  const from = { actor: actor ?? auth.actor, sentBy: auth.actor };
  await context.commands.request({
    commandId,
    attemptId: record._id,
    taskId,
    type,
    ...compact({ message }),
    ...from,
    createdAt: new Date().toISOString(),
  });
  const input = { attemptId: record._id, commandId, type, ...from, ...digestsOf(record) };
  const answer = await context.runLauncher.command(input).catch((error: unknown) => {
    if (!command || !isTooEarly(error)) {
      throw error;
    }
    // The run's first response under this id is its response for ever; nothing was delivered.
    return context.runLauncher.command(input, `${commandId}-${randomUUID()}`);
  });
  if (answer) {
    return answer;
  }
  const settled = await context.commands.get(record._id, commandId);
  if (settled?.settledAt !== undefined) {
    return answerOf(settled);
  }
  throw ended((await context.attempts.get(record._id)) ?? record);
}

/** Refused only because the agent had not been started yet. */
const isTooEarly = (error: unknown): boolean => error instanceof AppError && error.code === 'RUN_NOT_RUNNING';

const answerOf = (command: { attemptId: string; commandId: string; type: AgentCommandType; reason?: string }) => ({
  attemptId: command.attemptId,
  commandId: command.commandId,
  action: command.type,
  delivered: command.reason === undefined,
  ...(command.reason === undefined ? {} : { reason: command.reason }),
});

/** The digests of the run as they are stored, for the workflow to compare with what it launched. */
const digestsOf = ({ providerRuntimeManifest, runLaunchManifest }: AttemptRecord) => ({
  ...(providerRuntimeManifest ? { providerRuntimeManifestDigest: providerRuntimeManifest.digest } : {}),
  ...(runLaunchManifest ? { runLaunchManifestDigest: runLaunchManifest.digest } : {}),
});

function checkRuns(record: AttemptRecord): void {
  if (record.completion || record.state === 'ended' || record.state === 'refused') {
    throw ended(record);
  }
  if (record.state === 'queued' || record.state === 'admitted') {
    throw conflict(
      'The run has not started yet; try again when it has.',
      { attemptId: record._id, state: record.state },
      'RUN_NOT_RUNNING',
    );
  }
}

/** A message is recorded whatever the provider supports; anything else is refused with the evidence. */
function checkCapability(record: AttemptRecord, type: AgentCommandType): void {
  if (type === 'message') {
    return;
  }
  const { usable, ...evidence } = capabilityEvidence(record.providerRuntimeManifest, type, commandCapability[type]);
  if (usable) {
    return;
  }
  throw conflict(
    `The agent of this run does not support ${type}: ${evidence.reason}`,
    { attemptId: record._id, ...evidence },
    'CAPABILITY_UNSUPPORTED',
  );
}

const ended = (record: AttemptRecord) =>
  conflict(
    'The run has ended.',
    { attemptId: record._id, state: record.state, status: record.completion?.status },
    'RUN_ENDED',
  );

function commandIdOf(headerKey: string | undefined): string {
  if (headerKey === undefined) {
    return randomUUID();
  }
  return createHash('sha256').update(parseIdempotencyKey(headerKey)).digest('hex');
}
