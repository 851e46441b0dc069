import {
  idempotencyKey,
  type LaunchAnswer,
  type LaunchOutcome,
  type LaunchRefusal,
  type LaunchRequest,
} from '../../contracts/launch';
import type { LaunchOrigin } from '../../contracts/admission';
import type { Continuation } from '../../contracts/completion';
import type { ConversationSource } from '../../contracts/conversation';
import type { LaunchPreview } from '../../contracts/launch-manifest';
import { assertFound, conflict, validationError } from '../../platform/errors/app-error';
import { driftOf } from '../../runs/contract';
import { digestOf } from '../../runs/digest';
import { newAttemptId } from '../../runs/ids';
import { planLaunch, type LaunchPlan } from '../../runs/launch-plan';
import { refusalError } from '../../runs/refusal';
import { parentProblem } from '../../stores/launch-parent';
import { loadLaunchSubject } from '../../stores/launch-subject';
import { withCallback } from './callback-secret';
import { traceRefusal, traceRefusedRoute } from '../../stores/route-trace';
import type { AgentRunInput } from '../../workflows/agent-run/messages';
import type { RunsContext } from './context';

/** Who launches, under which key. */
export interface LaunchCaller {
  actor: string;
  workspaceId: string;
  /** The header `X-Idempotency-Key`; it wins over the key in the body. */
  headerKey: string | undefined;
}

/** What a launch goes on with, when it is no new conversation. */
export interface LaunchConversation extends ConversationSource {
  message: string;
  /** How it can be gone on with, or why not; asked once for each launch. @throws AppError 409 */
  continuation: () => Promise<Continuation>;
}

/** Where a launch comes from that is no start by a caller. */
export interface LaunchFrom {
  origin: LaunchOrigin;
  conversation?: LaunchConversation;
}

/**
 * Starts a run, or answers again what the same idempotency key was answered before, also after restarts and by another
 * replica. The claim of a key comes before the workflow, so that two requests with one key are one run.
 */
export async function launchRun(
  context: RunsContext,
  taskId: string,
  body: LaunchRequest,
  caller: LaunchCaller,
  from?: LaunchFrom,
): Promise<LaunchAnswer> {
  const { idempotencyKey: bodyKey, ...request } = body;
  const key = parseKey(caller.headerKey) ?? bodyKey;
  const answer = await launchOnce(context, taskId, request, { ...caller, key }, from);
  return withCallback(context, answer, { actor: caller.actor, launchKey: key });
}

async function launchOnce(
  context: RunsContext,
  taskId: string,
  request: Omit<LaunchRequest, 'idempotencyKey'>,
  { key, ...caller }: LaunchCaller & { key: string | undefined },
  from: LaunchFrom | undefined,
): Promise<LaunchAnswer> {
  const conversation = from?.conversation;
  const requestDigest = requestIdentity(taskId, request, from);
  const known = key === undefined ? undefined : await context.launches.find(taskId, key);
  if (known && known.requestDigest !== requestDigest) {
    throw conflict(
      'The idempotency key belongs to another launch request.',
      { taskId, attemptId: known.attemptId },
      'IDEMPOTENCY_KEY_REUSED',
    );
  }
  if (known?.outcome) return answered(known.outcome);
  // A claimed key without an outcome is a launch whose answer was lost: it goes on where it was.
  const continuation = known ? undefined : await conversation?.continuation();
  if (!known) await checkReadiness(context, taskId, request, caller.workspaceId, { launches: true });

  const fresh = { taskId, attemptId: newAttemptId(), requestDigest, createdAt: new Date().toISOString() };
  const claim = known ?? (key === undefined ? fresh : await context.launches.claim(key, fresh));
  if (claim.requestDigest !== requestDigest) {
    throw conflict(
      'The idempotency key belongs to another launch request.',
      { taskId, attemptId: claim.attemptId },
      'IDEMPOTENCY_KEY_REUSED',
    );
  }
  const goesOn = conversation && (await remember(context, claim, conversation, continuation, caller));
  const { maxRetries } = (await context.routing.configuration()).value;
  const input = {
    attemptId: claim.attemptId,
    taskId,
    request,
    actor: caller.actor,
    workspaceId: caller.workspaceId,
    ...context.settings,
    maxRetries,
    ...(from ? { origin: from.origin } : {}),
    ...(goesOn ? { conversation: goesOn } : {}),
  };
  const outcome =
    (await context.launcher.launch(input, caller.workspaceId)) ?? (await context.attempts.get(claim.attemptId))?.launch;
  if (!outcome) {
    throw conflict('This launch was refused. Launch again with a new idempotency key.', { attemptId: claim.attemptId });
  }
  if (key !== undefined) await context.launches.settle(taskId, key, outcome);
  return answered(outcome);
}

/** Two requests under one key are the same when everything that was asked is. */
function requestIdentity(taskId: string, request: object, { origin, conversation }: Partial<LaunchFrom> = {}): string {
  const { continuation: _continuation, ...asked } = conversation ?? {};
  return digestOf({
    taskId,
    request,
    ...(conversation ? { conversation: asked } : {}),
    // That of a conversation says nothing more. Keys of earlier versions were claimed without it.
    ...(origin && origin.source !== 'conversation' ? { origin } : {}),
  });
}

/** Writes down what the launch goes on with, before anything is launched; the first one stands. */
async function remember(
  { conversations }: RunsContext,
  { attemptId, createdAt }: { attemptId: string; createdAt: string },
  { continuation: ask, ...conversation }: LaunchConversation,
  known: Continuation | undefined,
  { actor }: LaunchCaller,
): Promise<NonNullable<AgentRunInput['conversation']>> {
  const { edge, sourceAttemptId } = conversation;
  if (!(await conversations.get(attemptId))) {
    const continuation = known ?? (await ask());
    await conversations.put({ _id: attemptId, ...conversation, continuation, actor, createdAt });
  }
  return { documentId: attemptId, edge, sourceAttemptId };
}

/** Compiles what `start` would, through the same gate, without an attempt, and compares it with a parent attempt. */
export async function previewRun(
  context: RunsContext,
  taskId: string,
  body: LaunchRequest,
  workspaceId: string,
): Promise<LaunchPreview> {
  const { idempotencyKey: _key, ...request } = body;
  const { snapshot, repository, git } = await checkReadiness(context, taskId, request, workspaceId, {
    launches: false,
  });
  const hostId = repository ? (repository.hostId ?? (await hostFor(context, taskId))) : null;
  const preview = await context.launcher.preview({ snapshot, repository, git, hostId });
  if ('status' in preview) throw refusalError(preview);
  return { ...preview, ...(await driftFromParent(context, request, preview)) };
}

async function driftFromParent(
  { attempts }: RunsContext,
  { parentAttemptId }: LaunchRequest,
  { manifest }: LaunchPreview,
): Promise<Pick<LaunchPreview, 'parentAttemptId' | 'drift'>> {
  if (parentAttemptId === undefined) return {};
  const parent = (await attempts.get(parentAttemptId))?.runLaunchManifest;
  return { parentAttemptId, ...(parent ? { drift: driftOf(parentAttemptId, parent, manifest) } : {}) };
}

/** The gate as it stands now; the workflow asks it again when it decides. */
async function checkReadiness(
  context: RunsContext,
  taskId: string,
  request: LaunchRequest,
  workspaceId: string,
  { launches }: { launches: boolean },
): Promise<LaunchPlan> {
  const subject = await loadLaunchSubject(context, taskId, request);
  assertFound(subject, 'task', taskId);
  const { parentAttemptId } = request;
  const orphan = await parentProblem(context, { taskId, parentAttemptId, workspaceId });
  if (orphan) throw refusalError(orphan);
  const plan = planLaunch(subject, { maxRetries: subject.maxRetries });
  if (!('refused' in plan)) return plan;
  // What a preview finds out is no decision: only its route is traced, because its answer names that trace.
  throw refusalError(
    await (launches
      ? traceRefusal(context.traces, subject, plan)
      : traceRefusedRoute(context.traces, subject, plan.refused)),
  );
}

/** Where a start would run: on the host that has the task's worktree, else on any that is live. */
async function hostFor({ worktrees, hosts }: RunsContext, taskId: string): Promise<string | null> {
  const worktree = await worktrees.get(taskId);
  if (worktree && worktree.state !== 'removed') return worktree.hostId;
  return (await hosts.anyLive()) ?? null;
}

function parseKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const parsed = idempotencyKey.safeParse(header);
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error.issues.map(({ message }) => ({ path: 'X-Idempotency-Key', message })));
}

function answered(outcome: LaunchOutcome): LaunchAnswer {
  if (isRefusal(outcome)) throw refusalError(outcome);
  return outcome;
}

const isRefusal = (outcome: LaunchOutcome): outcome is LaunchRefusal => outcome.status === 'refused';
