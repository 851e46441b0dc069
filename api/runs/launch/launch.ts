import type { Refusal } from '../../../contracts/refusal';
import type { LaunchOrigin } from '../../../contracts/runs/admission';
import type { Continuation } from '../../../contracts/runs/completion';
import type { ConversationSource } from '../../../contracts/runs/conversation';
import type { LaunchOutcome, LaunchRequest, LaunchResponse } from '../../../contracts/runs/launch/launch';
import type { LaunchPreview } from '../../../contracts/runs/launch/manifest';
import { driftOf } from '../../../domain/contract';
import { type AskedContinuation, decideContinuation } from '../../../domain/governance/watcher-policy';
import { newAttemptId } from '../../../domain/ids';
import { type LaunchPlan, planLaunch } from '../../../domain/launch-plan';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { digestOf } from '../../../platform/json/digest';
import type { Asking } from '../../../stores/governance/decision-point';
import { auditOf } from '../../../stores/governance/watcher-decision';
import { loadLaunchInputs } from '../../../stores/runs/launch/launch-inputs';
import { parentProblem } from '../../../stores/runs/launch/launch-parent';
import { ruleOnLaunch } from '../../../stores/runs/launch/launch-rules';
import type { LaunchClaim } from '../../../stores/runs/launch/launch-store';
import { traceRefusal, traceRefusedRoute } from '../../../stores/runs/launch/route-trace';
import { runTimingsOf } from '../../../workflows/agent-run/launch-options';
import type { AgentRunInput } from '../../../workflows/agent-run/messages';
import type { WorkflowContext } from '../../context';
import { refusalError } from '../../refusal-error';
import { idempotencyKeyReused, parseIdempotencyKey } from '../idempotency-key';
import { withCallback } from '../reports/callback-secret';

/** Who launches, under which key. */
export interface LaunchCaller {
  actor: string;
  workspaceId: string;
  /** The header `X-Idempotency-Key`; it wins over the key in the body. */
  headerKey: string | undefined;
}

/** The conversation that a launch continues. */
export interface LaunchConversation extends ConversationSource {
  message: string;
  /**
   * How it can be continued, or why not, when the launch is requested first. `undefined` begins a new session with the message.
   *
   * @throws AppError 409
   */
  continuation: () => Promise<Continuation | undefined>;
}

/** Where a launch comes from that is no start by a caller. */
export interface LaunchFrom {
  /** Absent where it follows from the launch itself, as that of a start. */
  origin?: LaunchOrigin;
  conversation?: LaunchConversation;
  /** What the watcher policy is asked, of a launch by a watcher. */
  watcher?: () => Promise<AskedContinuation>;
}

/**
 * Starts a run, or repeats the response to the same idempotency key, also after restarts and by another replica. The claim of a
 * key comes before the workflow, so that two requests with one key are one run.
 */
export async function launchRun(
  context: WorkflowContext,
  taskId: string,
  { body, caller, from }: { body: LaunchRequest; caller: LaunchCaller; from?: LaunchFrom },
): Promise<LaunchResponse> {
  const { idempotencyKey: bodyKey, ...request } = body;
  const key = caller.headerKey === undefined ? bodyKey : parseIdempotencyKey(caller.headerKey);
  const answer = await launchOnce(context, taskId, { request, caller: { ...caller, key }, from });
  return withCallback(context, answer, { actor: caller.actor, launchKey: key });
}

async function launchOnce(
  context: WorkflowContext,
  taskId: string,
  {
    request,
    caller: { key, ...caller },
    from,
  }: {
    request: Omit<LaunchRequest, 'idempotencyKey'>;
    caller: LaunchCaller & { key: string | undefined };
    from: LaunchFrom | undefined;
  },
): Promise<LaunchResponse> {
  const conversation = from?.conversation;
  const requestDigest = requestIdentity(taskId, request, from);
  const earlier = key === undefined ? undefined : await context.launches.find(taskId, key);
  if (earlier) {
    assertSameRequest(earlier, requestDigest);
  }
  if (earlier?.outcome) {
    return toResponse(earlier.outcome, { replayed: true });
  }
  // A claimed key without an outcome is a launch whose response was lost: it is resumed.
  const continuation = earlier ? undefined : await conversation?.continuation();
  const fresh = { taskId, attemptId: newAttemptId(), requestDigest, createdAt: new Date().toISOString() };
  const warnings = earlier
    ? []
    : await checkRules(context, fresh, {
        request,
        actor: caller.actor,
        from,
        plan: await checkReadiness(context, taskId, { request, workspaceId: caller.workspaceId, launches: true }),
      });
  const claim = earlier ?? (key === undefined ? fresh : await context.launches.claim(key, fresh));
  assertSameRequest(claim, requestDigest);
  const goesOn =
    conversation && (await saveConversation(context, claim, { conversation, earlier: continuation, caller }));
  const { maxRetries } = (await context.routing.configuration()).value;
  const input = {
    attemptId: claim.attemptId,
    taskId,
    request,
    actor: caller.actor,
    workspaceId: caller.workspaceId,
    timings: runTimingsOf(context.env),
    maxRetries,
    ...compact({ origin: from?.origin }),
    ...(goesOn ? { conversation: goesOn } : {}),
  };
  const decided = (await context.runLauncher.launch(input)) ?? (await context.attempts.get(claim.attemptId))?.launch;
  const outcome = decided && withWarnings(decided, warnings);
  if (!outcome) {
    throw conflict('This launch was refused. Launch again with a new idempotency key.', { attemptId: claim.attemptId });
  }
  if (key !== undefined) {
    await context.launches.settle(taskId, key, outcome);
  }
  return toResponse(outcome, { replayed: claim.attemptId !== fresh.attemptId });
}

/** @throws AppError 409 when the key was claimed for another request */
function assertSameRequest(claim: Omit<LaunchClaim, '_id'>, requestDigest: string): void {
  if (claim.requestDigest === requestDigest) {
    return;
  }
  const { taskId, attemptId } = claim;
  throw idempotencyKeyReused('launch request', { taskId, attemptId });
}

/** Two requests under one key are the same when all their fields are. */
function requestIdentity(taskId: string, request: object, { origin, conversation }: Partial<LaunchFrom> = {}): string {
  const { continuation: _continuation, ...asked } = conversation ?? {};
  return digestOf({
    taskId,
    request,
    ...(conversation ? { conversation: asked } : {}),
    // The origin of a conversation adds nothing. Keys of earlier versions were claimed without it.
    ...(origin && origin.source !== 'conversation' ? { origin } : {}),
  });
}

/** Stores the conversation that the launch continues, before anything is launched; the first one stands. */
async function saveConversation(
  { conversations }: WorkflowContext,
  { attemptId, createdAt }: { attemptId: string; createdAt: string },
  {
    conversation: { continuation: ask, ...conversation },
    earlier,
    caller: { actor },
  }: { conversation: LaunchConversation; earlier: Continuation | undefined; caller: LaunchCaller },
): Promise<NonNullable<AgentRunInput['conversation']>> {
  const { sourceAttemptId } = conversation;
  let stored = await conversations.get(attemptId);
  if (!stored) {
    const continuation = earlier ?? (await ask());
    const edge = continuation ? conversation.edge : 'start';
    stored = { _id: attemptId, ...conversation, edge, ...compact({ continuation }), actor, createdAt };
    await conversations.put(stored);
  }
  return { documentId: attemptId, edge: stored.edge, ...compact({ sourceAttemptId }) };
}

/** Compiles what `start` would, through the same gate, without an attempt, and compares it with a parent attempt. */
export async function previewRun(
  context: WorkflowContext,
  taskId: string,
  { body, workspaceId, actor }: { body: LaunchRequest; workspaceId: string; actor: string },
): Promise<LaunchPreview> {
  const { idempotencyKey: _key, ...request } = body;
  const plan = await checkReadiness(context, taskId, { request, workspaceId, launches: false });
  const { snapshot, repository, git } = plan;
  const hostId = repository ? (repository.hostId ?? (await hostFor(context, taskId))) : null;
  const warnings = await checkRules(
    context,
    { taskId, attemptId: newAttemptId() },
    { request, actor, plan, asking: { preview: true } },
  );
  const preview = await context.runLauncher.preview({ snapshot, repository, git, hostId });
  if ('status' in preview) {
    throw refusalError(preview);
  }
  return {
    ...preview,
    ...(await driftFromParent(context, request, preview)),
    ...(warnings.length > 0 ? { warnings: [...(preview.warnings ?? []), ...warnings.map(ruleWarning)] } : {}),
  };
}

async function driftFromParent(
  { attempts }: WorkflowContext,
  { parentAttemptId }: LaunchRequest,
  { manifest }: LaunchPreview,
): Promise<Pick<LaunchPreview, 'parentAttemptId' | 'drift'>> {
  if (parentAttemptId === undefined) {
    return {};
  }
  const parent = (await attempts.get(parentAttemptId))?.runLaunchManifest;
  return { parentAttemptId, ...(parent ? { drift: driftOf(parentAttemptId, parent, manifest) } : {}) };
}

/** The present gate; the workflow checks it again when it decides. */
async function checkReadiness(
  context: WorkflowContext,
  taskId: string,
  { request, workspaceId, launches }: { request: LaunchRequest; workspaceId: string; launches: boolean },
): Promise<LaunchPlan> {
  const inputs = await loadLaunchInputs(context, taskId, request);
  assertFound(inputs, 'task', taskId);
  const { parentAttemptId } = request;
  const orphan = await parentProblem(context, { taskId, parentAttemptId, workspaceId });
  if (orphan) {
    throw refusalError(orphan);
  }
  const plan = planLaunch(inputs, { maxRetries: inputs.maxRetries });
  if (!('refused' in plan)) {
    return plan;
  }
  // A preview is no decision: only its route is traced, because its response names that trace.
  throw refusalError(
    await (launches
      ? traceRefusal(context.traces, inputs, { plan })
      : traceRefusedRoute(context.traces, inputs, { refused: plan.refused })),
  );
}

/**
 * Asks the rules about a launch before anything of it is recorded; admission asks again, by the stores alone.
 *
 * @returns what they warn of
 * @throws AppError 403 `POLICY_BLOCKED`, 409 `APPROVAL_REQUIRED`, `CONTINUATION_BLOCKED`, `CONTINUATION_NEEDS_APPROVAL`
 */
async function checkRules(
  context: WorkflowContext,
  { taskId, attemptId }: { taskId: string; attemptId: string },
  {
    request,
    actor,
    from: { origin, watcher: question } = {},
    plan: { snapshot },
    asking,
  }: {
    request: LaunchRequest;
    actor: string;
    from?: Partial<LaunchFrom> | undefined;
    plan: LaunchPlan;
    asking?: Asking;
  },
): Promise<string[]> {
  const parent =
    request.parentAttemptId === undefined ? undefined : await context.attempts.get(request.parentAttemptId);
  const source = origin?.source ?? (parent && parent.taskId !== taskId ? 'child-agent' : 'direct');
  const watcher = await question?.();
  const { refused, warnings } = await ruleOnLaunch(
    context,
    {
      attemptId,
      taskId,
      project: (await context.board.get(taskId))?.task.project,
      agent: snapshot.agent.type,
      phase: snapshot.phase,
      request: snapshot.request,
      source,
      parentAttemptId: request.parentAttemptId,
      actor,
      ...compact({ watcher }),
    },
    asking ?? { counting: { once: attemptId }, once: attemptId },
  );
  if (watcher) {
    const { settings, question: asked } = watcher;
    await context.audit.record({ ...auditOf(asked, decideContinuation(settings, asked)), actor });
  }
  if (refused) {
    throw refusalError(refused);
  }
  return warnings;
}

const ruleWarning = (message: string) => ({ code: 'POLICY_WARNING', message });

/** An accepted launch, with what the rules warn of. */
const withWarnings = (outcome: LaunchOutcome, warnings: string[]): LaunchOutcome =>
  isRefusal(outcome) || warnings.length === 0 ? outcome : { ...outcome, warnings };

/** Where a start would run: on the host that has the task's worktree, else on any that is live. */
async function hostFor({ worktrees, hosts }: WorkflowContext, taskId: string): Promise<string | null> {
  const worktree = await worktrees.get(taskId);
  if (worktree && worktree.state !== 'removed') {
    return worktree.hostId;
  }
  return (await hosts.anyForLaunch()) ?? null;
}

/** @param replayed whether the key had been used for the launch before */
function toResponse(outcome: LaunchOutcome, { replayed }: { replayed: boolean }): LaunchResponse {
  const mark = replayed ? { replayed } : {};
  if (isRefusal(outcome)) {
    throw refusalError({ ...outcome, details: { ...outcome.details, ...mark } });
  }
  return { ...outcome, ...mark };
}

const isRefusal = (outcome: LaunchOutcome): outcome is Refusal => outcome.status === 'refused';
