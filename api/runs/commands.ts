import { createHash, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import {
  commandAnswer,
  commandTarget,
  messageRequest,
  steerRequest,
  type AgentCommandType,
  type CommandAnswer,
} from '../../contracts/agent-command';
import { idempotencyKey } from '../../contracts/launch';
import { AppError, conflict, validationError } from '../../platform/errors/app-error';
import type { AuthContext } from '../../platform/http/auth';
import type { Routes } from '../../platform/http/routes';
import { presentedIdempotencyKey } from '../../platform/http/idempotency';
import { capabilityEvidence, commandCapability } from '../../runs/commands';
import type { AttemptRecord } from '../../stores/attempt-store';
import { verifiedAttempt } from './attempt';
import type { RunsContext } from './context';
import { ofTask } from './parameters';

interface CommandRequest extends z.infer<typeof commandTarget> {
  message?: string;
  actor?: string | undefined;
}

interface CommandCaller {
  auth: AuthContext;
  /** The header `X-Idempotency-Key`: the same key is the same command. */
  headerKey: string | undefined;
}

const conversation = (verb: string) => `/agents/:taskId/conversation/${verb}`;

const common = {
  method: 'post' as const,
  idempotency: 'own' as const,
  tag: 'runs',
  permission: 'task:write',
  params: ofTask,
  response: commandAnswer,
  errors: [404, 409, 503],
};

/** What can be said to a run that is going on. */
export function commandRoutes(routes: Routes, context: RunsContext): void {
  routes.add(
    {
      ...common,
      path: '/agents/:taskId/message',
      operationId: 'messageRun',
      summary: 'Say something to the agent of exactly this attempt; recorded also when it cannot be delivered',
      body: messageRequest,
    },
    ({ params, body, auth, header }) =>
      command(context, params.taskId, 'message', body, { auth, headerKey: presentedIdempotencyKey(header) }),
  );
  routes.add(
    {
      ...common,
      path: conversation('steer'),
      operationId: 'steerRun',
      summary: 'Say something that the agent heeds now',
      body: steerRequest,
    },
    ({ params, body, auth, header }) =>
      command(context, params.taskId, 'steer', body, { auth, headerKey: presentedIdempotencyKey(header) }),
  );
  const wordless = [
    ['interrupt', 'interruptRun', 'Interrupt what the agent does now'],
    ['compact', 'compactConversation', 'Make the conversation of the run shorter'],
    ['archive', 'archiveConversation', 'Put the conversation of the run away'],
    ['close', 'closeConversation', 'Close the conversation of the run'],
  ] as const;
  for (const [type, operationId, summary] of wordless) {
    routes.add(
      { ...common, path: conversation(type), operationId, summary, body: commandTarget },
      ({ params, body, auth, header }) =>
        command(context, params.taskId, type, body, { auth, headerKey: presentedIdempotencyKey(header) }),
    );
  }
}

/**
 * Hands a command to the agent of exactly this attempt and answers what became of it. The same idempotency key is the
 * same command, whose outcome is answered again.
 *
 * @throws AppError 409 when the run has ended, is not running yet, or does not support the command (with evidence)
 */
async function command(
  context: RunsContext,
  taskId: string,
  type: AgentCommandType,
  { message, actor, ...target }: CommandRequest,
  { auth, headerKey }: CommandCaller,
): Promise<CommandAnswer> {
  const record = await verifiedAttempt(context, taskId, target.attemptId, target);
  const commandId = commandIdOf(headerKey);
  const said = await context.commands.get(record._id, commandId);
  if (said && (said.type !== type || said.message !== message)) {
    throw conflict(
      'The idempotency key belongs to another command.',
      { attemptId: record._id, action: said.type },
      'IDEMPOTENCY_KEY_REUSED',
    );
  }
  if (said?.settledAt !== undefined) return answerOf(said);
  // One that was written down may be on its way to the agent: its outcome is the run's to tell, also after its end.
  if (!said) checkRuns(record);
  checkCapability(record, type);
  const from = { actor: actor ?? auth.actor, sentBy: auth.actor };
  await context.commands.request({
    commandId,
    attemptId: record._id,
    taskId,
    type,
    ...(message === undefined ? {} : { message }),
    ...from,
    createdAt: new Date().toISOString(),
  });
  const input = { attemptId: record._id, commandId, type, ...from, ...digestsOf(record) };
  const answer = await context.launcher.command(input).catch((error: unknown) => {
    if (!said || !isTooEarly(error)) throw error;
    // What the run answered then, it would answer for ever under this id; nothing was handed over.
    return context.launcher.command(input, `${commandId}-${randomUUID()}`);
  });
  if (answer) return answer;
  const settled = await context.commands.get(record._id, commandId);
  if (settled?.settledAt !== undefined) return answerOf(settled);
  throw ended((await context.attempts.get(record._id)) ?? record);
}

/** Refused only because the agent had not been started yet. */
const isTooEarly = (error: unknown): boolean => error instanceof AppError && error.code === 'RUN_NOT_RUNNING';

const answerOf = (said: { attemptId: string; commandId: string; type: AgentCommandType; reason?: string }) => ({
  attemptId: said.attemptId,
  commandId: said.commandId,
  action: said.type,
  delivered: said.reason === undefined,
  ...(said.reason === undefined ? {} : { reason: said.reason }),
});

/** The digests of the run as they are stored, for the workflow to compare with what it launched. */
const digestsOf = ({ providerRuntimeManifest, runLaunchManifest }: AttemptRecord) => ({
  ...(providerRuntimeManifest ? { providerRuntimeManifestDigest: providerRuntimeManifest.digest } : {}),
  ...(runLaunchManifest ? { runLaunchManifestDigest: runLaunchManifest.digest } : {}),
});

function checkRuns(record: AttemptRecord): void {
  if (record.completion || record.state === 'ended' || record.state === 'refused') throw ended(record);
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
  if (type === 'message') return;
  const { usable, ...evidence } = capabilityEvidence(record.providerRuntimeManifest, type, commandCapability[type]);
  if (usable) return;
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
  if (headerKey === undefined) return randomUUID();
  const parsed = idempotencyKey.safeParse(headerKey);
  if (!parsed.success) {
    throw validationError(parsed.error.issues.map(({ message }) => ({ path: 'X-Idempotency-Key', message })));
  }
  return createHash('sha256').update(parsed.data).digest('hex');
}
