import type { z } from 'zod';
import type { Refusal } from '../../../contracts/refusal';
import type { RunApproval } from '../../../contracts/runs/approval';
import type { RewindRequest, rewindResponse, WorkspaceRewind } from '../../../contracts/runs/rewind';
import { rewindIdOf } from '../../../domain/checkpoints/rewind-plan';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import { digestOf } from '../../../platform/json/digest';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RewindOutcome } from '../../../workflows/workspace-rewind/messages';
import { refusalError } from '../../refusal-error';
import { verifiedAttempt } from '../attempts/attempt';
import { idempotencyKeyReused, parseIdempotencyKey } from '../idempotency-key';
import type { RewindContext } from './context';
import { assertEligible } from './eligibility';

type Answer = z.infer<typeof rewindResponse>;

/** How long a person has to decide, in milliseconds. */
const lifetimeMs = 900_000;

interface Caller {
  actor: string;
  /** The header `X-Idempotency-Key`. */
  headerKey: string | undefined;
}

/**
 * Restores the worktree of a running attempt to a checkpoint, preview first (specification 2, Launch rule 10): the first
 * request plans and requests approval, the identical one after the approval checks everything again and commits.
 *
 * @throws AppError 409 `REWIND_CONFLICT` with the paths to be decided about, `REWIND_UNSUPPORTED`, `REWIND_DIVERGED`,
 *   `REWIND_REJECTED`, `IDEMPOTENCY_KEY_REUSED`
 */
export async function rewindRun(
  context: RewindContext,
  taskId: string,
  { request, caller }: { request: RewindRequest; caller: Caller },
): Promise<Answer> {
  const record = await verifiedAttempt(context, { taskId, attemptId: request.attemptId });
  const requestId = requestIdOf(request, caller);
  const id = rewindIdOf(record._id, requestId);
  const { requestId: _id, resolutions, ...what } = request;
  const byPath = [...resolutions].sort((a, b) => (a.path < b.path ? -1 : 1));
  const requestDigest = digestOf({ ...what, resolutions: byPath });

  const existing = await context.rewinds.get(id);
  if (existing && existing.requestDigest !== requestDigest) {
    throw idempotencyKeyReused('rewind', { requestId });
  }
  if (existing?.state === 'committed') {
    return { status: 'committed', rewind: existing, replayed: true };
  }
  if (existing?.state === 'failed') {
    throw rewindError({ code: 'REWIND_FAILED', message: existing.error ?? '', details: { replayed: true } });
  }
  if (existing?.state === 'committing') {
    return commit(context, record, existing);
  }

  const hostId = await assertEligible(context, record, request);
  if (!existing) {
    const { targetCheckpointId, descendantCheckpointId, attemptId } = request;
    const plan = { hostId, rewindId: id, taskId, attemptId, requestId, requestDigest, resolutions: byPath };
    const points = { targetCheckpointId, descendantCheckpointId };
    assertNotRefused(await context.rewindLauncher.plan({ ...plan, ...points, actor: caller.actor }));
  }
  const rewind = await mustFind(context, id);
  const approval = await approvalOf(context, record, rewind);
  if (approval.status === 'pending') {
    const asked = (await context.rewinds.approve(id, approval.id, context.now().toISOString())) ?? rewind;
    return { status: 'approval-required', rewind: asked, approval };
  }
  if (approval.status === 'approved') {
    return commit(context, record, rewind);
  }
  throw conflict(
    `The rewind was not approved: ${approval.status}. Request it again with a new request id.`,
    { approvalId: approval.id, status: approval.status },
    'REWIND_REJECTED',
  );
}

/** Critical, and never to be decided from a telephone; its action is exactly the plan. */
async function approvalOf(
  context: RewindContext,
  record: AttemptRecord,
  rewind: WorkspaceRewind,
): Promise<RunApproval> {
  if (rewind.approvalId !== null) {
    await context.approvals.expireDue(context.now().toISOString());
    const existing = await context.approvals.get(rewind.approvalId);
    if (existing) {
      return existing;
    }
  }
  const { before, target, paths, pathCount, targetCheckpointId, descendantCheckpointId, turn, requestDigest } = rewind;
  return context.approvalRequests.request({
    workspaceId: context.workspaceId,
    taskId: record.taskId,
    attemptId: record._id,
    provider: record.provider,
    agentId: record.agent,
    actionClass: 'filesystem',
    action: `Rewind the worktree to ${targetCheckpointId}, changing ${pathCount} paths.`,
    providerRequestId: `rewind/${rewind.id}`,
    details: { targetCheckpointId, descendantCheckpointId, requestDigest, before, target, paths: paths.slice(0, 100) },
    resourceScope: paths.slice(0, 100).map(({ path }) => path),
    riskClass: 'critical',
    mobileSafe: false,
    policyReason: 'A rewind undoes work in a worktree with an active agent.',
    threadId: turn.sessionId,
    turnId: turn.turnId,
    lifetimeMs,
  });
}

async function commit(context: RewindContext, record: AttemptRecord, rewind: WorkspaceRewind): Promise<Answer> {
  const { hostId } = record;
  assertFound(hostId, 'host', record._id);
  assertNotRefused(await context.rewindLauncher.commit({ hostId, rewindId: rewind.id, attemptId: record._id }));
  return { status: 'committed', rewind: await mustFind(context, rewind.id) };
}

async function mustFind({ rewinds }: RewindContext, id: string): Promise<WorkspaceRewind> {
  const rewind = await rewinds.get(id);
  assertFound(rewind, 'rewind', id);
  return rewind;
}

function assertNotRefused(outcome: RewindOutcome): void {
  if (outcome.status === 'refused') {
    throw rewindError(outcome);
  }
}

const rewindError = (refused: Omit<Refusal, 'status'>) =>
  refused.code === 'REWIND_PATH_UNKNOWN'
    ? validationError(
        (refused.details.paths as string[]).map((path) => ({
          path: 'resolutions',
          message: `${path} would not change`,
        })),
      )
    : refusalError(refused);

function requestIdOf({ requestId }: RewindRequest, { headerKey }: Caller): string {
  return headerKey === undefined ? parseIdempotencyKey(requestId, 'requestId') : parseIdempotencyKey(headerKey);
}
