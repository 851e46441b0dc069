import { ActivityFailure, ApplicationFailure, patched, proxyActivities } from '@temporalio/workflow';
import { type GraphNode, usualPromptMs } from '../../graph/graph';
import type { PromptAnswer, PromptInput, RunActivities } from './activities';
import { type Continuation, SuspendedError } from './continuation';
import type { StageUnderWay } from './cursor';
import { modelFailed } from './messages';

/** What an attempt may take beside the model's time: the stores. */
const storesMs = 60_000;
/** The pause before the second attempt, which is doubled from then on, and the longest, in milliseconds. */
const pause = { first: 1_000, longest: 60_000 };

const heartbeatTimeout = '15 seconds';
const retry = { initialInterval: '1 second', maximumInterval: '1 minute' } as const;

/**
 * Asks the model of a node, again as often as the node allows when it does not answer. What else goes wrong, such as a service
 * that ends in the middle, is repeated and counts as no attempt.
 *
 * @throws ActivityFailure of the last attempt
 * @throws SuspendedError between two attempts, when the execution continues as new
 */
export async function askModel(
  {
    maxRetries,
    timeoutMs = usualPromptMs,
    retryDelayMs = pause.first,
  }: Pick<GraphNode, 'maxRetries' | 'timeoutMs' | 'retryDelayMs'>,
  { underWay, continuation }: { underWay: StageUnderWay; continuation: Continuation },
  prompt: PromptInput,
): Promise<PromptAnswer> {
  const summary = `prompt of ${prompt.stageId}`;
  if (!patched('model-attempts')) {
    return proxyActivities<Pick<RunActivities, 'runPrompt'>>({
      startToCloseTimeout: timeoutMs,
      heartbeatTimeout,
      retry: { ...retry, maximumAttempts: maxRetries + 1 },
      summary,
    }).runPrompt(prompt);
  }
  const { runPrompt } = proxyActivities<Pick<RunActivities, 'runPrompt'>>({
    startToCloseTimeout: timeoutMs + storesMs,
    heartbeatTimeout,
    retry,
    summary,
  });
  for (let attempt = underWay.attempt ?? 1; ; attempt += 1) {
    if (underWay.untilMs !== undefined) {
      const { untilMs } = underWay;
      await continuation.wait(() => false, { untilMs, summary: `next attempt of ${prompt.stageId}` });
    }
    if (continuation.isDue) {
      throw new SuspendedError();
    }
    try {
      return await continuation.duringPrompt(() => runPrompt({ ...prompt, attempt, timeoutMs }));
    } catch (error) {
      if (attempt > maxRetries || !mayAnswerLater(error)) {
        throw error;
      }
      underWay.attempt = attempt + 1;
      underWay.untilMs =
        Date.now() + Math.min(retryDelayMs * 2 ** (attempt - 1), Math.max(pause.longest, retryDelayMs));
    }
  }
}

function mayAnswerLater(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== modelFailed) {
    return false;
  }
  return (cause.details?.[0] as { retryable?: boolean } | undefined)?.retryable === true;
}
