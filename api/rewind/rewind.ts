import type { z } from 'zod';
import { localWorkspace } from '../../contracts/common';
import { idempotencyKey } from '../../contracts/launch';
import type { RunApproval } from '../../contracts/run-approval';
import type { rewindAnswer, RewindRequest, WorkspaceRewind } from '../../contracts/workspace-rewind';
import { assertFound, conflict, validationError } from '../../platform/errors/app-error';
import { rewindIdOf } from '../../runs/checkpoints/rewind-plan';
import { digestOf } from '../../runs/digest';
import type { AttemptRecord } from '../../stores/attempt-store';
import type { RewindOutcome } from '../../workflows/workspace-rewind/messages';
import { verifiedAttempt } from '../runs/attempt';
import type { RewindContext } from './context';
import { assertEligible } from './eligibility';

type Answer = z.infer<typeof rewindAnswer>;

/** How long somebody has to decide, in milliseconds. */
const lifetimeMs = 900_000;

interface Caller {
  actor: string;
  /** The header `X-Idempotency-Key`. */
  headerKey: string | undefined;
}

/**
 * Takes the worktree of a running attempt back to a checkpoint, preview first (specification 2, Launch rule 10): the first
 * request plans and asks for approval, the identical one after the approval looks at everything again and commits.
 *
 * @throws AppError 409 `REWIND_CONFLICT` with the paths to be decided about, `REWIND_UNSUPPORTED`, `REWIND_DIVERGED`,
 *   `REWIND_REJECTED`, `IDEMPOTENCY_KEY_REUSED`
 */
export async function rewindRun(
  context: RewindContext,
  taskId: string,
  request: RewindRequest,
  caller: Caller,
): Promise<Answer> {
  const record = await verifiedAttempt(context, taskId, request.attemptId);
  const requestId = requestIdOf(request, caller);
  const id = rewindIdOf(record._id, requestId);
  const { requestId: _id, resolutions, ...what } = request;
  const byPath = [...resolutions].sort((a, b) => (a.path < b.path ? -1 : 1));
  const requestDigest = digestOf({ ...what, resolutions: byPath });

  const known = await context.rewinds.get(id);
  if (known && known.requestDigest !== requestDigest) {
    throw conflict('The request id belongs to another rewind.', { requestId }, 'IDEMPOTENCY_KEY_REUSED');
  }
  if (known?.state === 'committed') return { status: 'committed', rewind: known };
  if (known?.state === 'failed') throw refusalError({ code: 'REWIND_FAILED', message: known.error ?? '', details: {} });
  if (known?.state === 'committing') return commit(context, record, known);

  const hostId = await assertEligible(context, record, request);
  if (!known) {
    const { targetCheckpointId, descendantCheckpointId, attemptId } = request;
    const plan = { hostId, rewindId: id, taskId, attemptId, requestId, requestDigest, resolutions: byPath };
    const points = { targetCheckpointId, descendantCheckpointId };
    assertNotRefused(await context.launcher.plan({ ...plan, ...points, actor: caller.actor }));
  }
  const rewind = await mustFind(context, id);
  const approval = await approvalOf(context, record, rewind);
  if (approval.status === 'pending') {
    const asked = (await context.rewinds.approve(id, approval.id, context.now().toISOString())) ?? rewind;
    return { status: 'approval-required', rewind: asked, approval };
  }
  if (approval.status === 'approved') return commit(context, record, rewind);
  throw conflict(
    `The rewind was not approved: ${approval.status}. Ask again under a request id of its own.`,
    { approvalId: approval.id, status: approval.status },
    'REWIND_REJECTED',
  );
}

/** Critical, and never to be decided from a telephone; its action is exactly what was planned. */
async function approvalOf(
  context: RewindContext,
  record: AttemptRecord,
  rewind: WorkspaceRewind,
): Promise<RunApproval> {
  if (rewind.approvalId !== null) {
    await context.approvalStore.expireDue(context.now().toISOString());
    const known = await context.approvalStore.get(rewind.approvalId);
    if (known) return known;
  }
  const { before, target, paths, pathCount, targetCheckpointId, descendantCheckpointId, turn, requestDigest } = rewind;
  return context.approvals.request({
    workspaceId: localWorkspace,
    taskId: record.taskId,
    attemptId: record._id,
    provider: record.provider,
    agentId: record.agent,
    actionClass: 'filesystem',
    action: `Take the worktree back to ${targetCheckpointId}, changing ${pathCount} paths.`,
    providerRequestId: `rewind/${rewind.id}`,
    details: { targetCheckpointId, descendantCheckpointId, requestDigest, before, target, paths: paths.slice(0, 100) },
    resourceScope: paths.slice(0, 100).map(({ path }) => path),
    riskClass: 'critical',
    mobileSafe: false,
    policyReason: 'A rewind undoes work in a worktree in which an agent is at work.',
    threadId: turn.sessionId,
    turnId: turn.turnId,
    lifetimeMs,
  });
}

async function commit(context: RewindContext, record: AttemptRecord, rewind: WorkspaceRewind): Promise<Answer> {
  const { hostId } = record;
  assertFound(hostId, 'host', record._id);
  assertNotRefused(await context.launcher.commit({ hostId, rewindId: rewind.id, attemptId: record._id }));
  return { status: 'committed', rewind: await mustFind(context, rewind.id) };
}

async function mustFind({ rewinds }: RewindContext, id: string): Promise<WorkspaceRewind> {
  const rewind = await rewinds.get(id);
  assertFound(rewind, 'rewind', id);
  return rewind;
}

function assertNotRefused(outcome: RewindOutcome): void {
  if (outcome.status === 'refused') throw refusalError(outcome);
}

const refusalError = ({
  code,
  message,
  details,
}: {
  code: string;
  message: string;
  details: Record<string, unknown>;
}) =>
  code === 'REWIND_PATH_UNKNOWN'
    ? validationError(
        (details.paths as string[]).map((path) => ({ path: 'resolutions', message: `${path} would not change` })),
      )
    : conflict(message, details, code);

function requestIdOf({ requestId }: RewindRequest, { headerKey }: Caller): string {
  const parsed = idempotencyKey.safeParse(headerKey ?? requestId);
  if (parsed.success) return parsed.data;
  const path = headerKey === undefined ? 'requestId' : 'X-Idempotency-Key';
  throw validationError(parsed.error.issues.map(({ message }) => ({ path, message })));
}
