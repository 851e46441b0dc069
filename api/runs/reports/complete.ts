import type { CompletionCallback } from '../../../contracts/runs/completion';
import { claimDigest, redactClaim, type TerminalClaim } from '../../../domain/completion';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { WorkflowContext } from '../../context';
import { verifiedAttempt } from '../attempts/attempt';
import { assertReporter, type Reporter } from './callback-secret';

/**
 * Takes the terminal report of an agent elsewhere (specification 2, Launch rule 7). The same report again succeeds
 * without change; another one is a conflict, however it arrives.
 *
 * @throws AppError 403 when the reporter does not prove that the attempt is its own
 */
export async function completeRun(
  context: WorkflowContext,
  taskId: string,
  { body, reporter }: { body: CompletionCallback; reporter: Reporter },
): Promise<{ received: true }> {
  const { providerRuntimeManifestDigest } = body;
  const record = await verifiedAttempt(context, {
    taskId,
    attemptId: body.attemptId,
    stated: { providerRuntimeManifestDigest },
  });
  if (record.provider !== 'remote-callback') {
    throw conflict(
      'Only an agent of the remote-callback provider reports its own completion.',
      { attemptId: record._id, provider: record.provider },
      'NOT_REMOTE_CALLBACK',
    );
  }
  await assertReporter(context, record, reporter);
  const claim = claimOf(body);
  const identity = claimDigest(claim);
  if (!record.completion) {
    await context.claims.put(record._id, identity, claim);
    if (await context.runLauncher.complete(record._id, identity)) {
      return { received: true };
    }
  }
  const ended = await context.attempts.get(record._id);
  assertFound(ended, 'attempt', record._id);
  if (!ended.completion) {
    const message = 'The run is being restored. Send the same report again.';
    throw new AppError('RUN_PENDING', {
      status: 503,
      message,
      details: { attemptId: record._id, retryAfterMs: 5_000 },
    });
  }
  if (ended.completion.idempotencyKey === identity) {
    return { received: true };
  }
  throw conflict(
    'The run has ended with another result.',
    { attemptId: record._id, status: ended.completion.status, completionDigest: ended.completion.digest },
    'COMPLETION_CONFLICT',
  );
}

function claimOf({
  attemptId: _attempt,
  providerRuntimeManifestDigest: _digest,
  callbackSecret: _secret,
  success,
  status,
  summary,
  error,
  ...claims
}: CompletionCallback): TerminalClaim {
  return redactClaim({
    terminalSource: 'callback' as const,
    status: status ?? (success ? 'success' : 'failed'),
    summary: summary ?? '',
    ...compact({ error }),
    claims,
    harness: { ended: 'callback' as const },
  });
}
