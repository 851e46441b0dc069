import {
  idempotencyKey,
  type LaunchAnswer,
  type LaunchOutcome,
  type LaunchRefusal,
  type LaunchRequest,
} from '../../contracts/launch';
import type { LaunchPreview } from '../../contracts/run-contract';
import { assertFound, conflict, validationError } from '../../platform/errors/app-error';
import { commitPolicyOf, gitTargetOf, objectiveOf } from '../../runs/contract';
import { digestOf } from '../../runs/digest';
import { newAttemptId } from '../../runs/ids';
import { selectLaunch } from '../../runs/readiness';
import { refusalError } from '../../runs/refusal';
import type { RunsContext } from './context';

/** Who launches, under which key. */
export interface LaunchCaller {
  actor: string;
  workspaceId: string;
  /** The header `X-Idempotency-Key`; it wins over the key in the body. */
  headerKey: string | undefined;
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
): Promise<LaunchAnswer> {
  const { idempotencyKey: bodyKey, ...request } = body;
  const key = parseKey(caller.headerKey) ?? bodyKey;
  const requestDigest = digestOf({ taskId, request });
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
  if (!known) await checkReadiness(context, taskId, request);

  const fresh = { taskId, attemptId: newAttemptId(), requestDigest, createdAt: new Date().toISOString() };
  const claim = known ?? (key === undefined ? fresh : await context.launches.claim(key, fresh));
  if (claim.requestDigest !== requestDigest) {
    throw conflict(
      'The idempotency key belongs to another launch request.',
      { taskId, attemptId: claim.attemptId },
      'IDEMPOTENCY_KEY_REUSED',
    );
  }
  const input = { attemptId: claim.attemptId, taskId, request, actor: caller.actor, ...context.settings };
  const outcome =
    (await context.launcher.launch(input, caller.workspaceId)) ?? (await context.attempts.get(claim.attemptId))?.launch;
  if (!outcome) {
    throw conflict('This launch was refused. Launch again with a new idempotency key.', { attemptId: claim.attemptId });
  }
  if (key !== undefined) await context.launches.settle(taskId, key, outcome);
  return answered(outcome);
}

/** Compiles what `start` would, through the same gate, without an attempt. */
export async function previewRun(context: RunsContext, taskId: string, body: LaunchRequest): Promise<LaunchPreview> {
  const { idempotencyKey: _key, ...request } = body;
  const { task, selection, repository, hostId } = await checkReadiness(context, taskId, request);
  const preview = await context.launcher.preview(
    {
      taskId,
      request,
      objective: objectiveOf(task),
      agent: selection.agent,
      selection: { requestedAgent: selection.requestedAgent, reason: selection.reason },
      commitPolicy: commitPolicyOf(request, task),
      repository: repository ?? null,
      git: repository ? gitTargetOf(task, repository) : null,
    },
    hostId,
  );
  if ('status' in preview) throw refusalError(preview);
  return preview;
}

/** The gate as it stands now; the workflow asks it again when it decides. */
async function checkReadiness(context: RunsContext, taskId: string, request: LaunchRequest) {
  const found = await context.board.get(taskId);
  assertFound(found, 'task', taskId);
  const { task, location } = found;
  const [{ agents, defaultAgent }, repository] = await Promise.all([
    context.agents.read(),
    task.git?.repo === undefined ? undefined : context.repositories.find(task.git.repo),
  ]);
  const selection = selectLaunch({ task, location, request, agents, defaultAgent, repository });
  if ('status' in selection) throw refusalError(selection);
  const hostId = repository ? (repository.hostId ?? (await context.hosts.anyLive()) ?? null) : null;
  return { task, selection, repository, hostId };
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
