import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import { type GraphNode, usualPromptMs } from '../../graph/graph';
import { hasChange } from '../changes';
import type { PromptAnswer, PromptInput, RunActivities } from '../execution/activities';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import { modelFailed } from '../execution/messages';
import type { StageContext } from '../execution/stages';

/** What an attempt may take beside the model's time: the stores. */
const storesMs = 60_000;
/** The pause before the second attempt, which is doubled from then on, and the longest, in milliseconds. */
const pause = { first: 1_000, longest: 60_000 };
/** The longest pause that a provider may ask for, in milliseconds. */
const longestRetryAfterMs = 600_000;

const heartbeatTimeout = '15 seconds';
const retry = { initialInterval: '1 second', maximumInterval: '1 minute' } as const;

interface Asking<T> extends Pick<StageContext, 'continuation' | 'progress'> {
  underWay: StageUnderWay;
  /** Asks it once; `runPrompt` when absent. */
  ask?: (input: PromptInput) => Promise<T>;
}

/** Limits of an activity that asks the model of a node. */
export const promptActivityOptions = (
  { timeoutMs = usualPromptMs }: Pick<GraphNode, 'timeoutMs'>,
  summary: string,
) => ({
  startToCloseTimeout: timeoutMs + storesMs,
  heartbeatTimeout,
  retry,
  summary,
});

/**
 * Asks the model of a node, again as often as the node allows when it does not answer, and then its fallback models likewise. What else goes wrong, such as a service
 * that ends in the middle, is repeated and counts as no attempt.
 *
 * @throws ActivityFailure of the last attempt
 * @throws SuspendedError between two attempts, when the execution continues as new
 */
export async function askModel<T extends PromptAnswer = PromptAnswer>(
  {
    maxRetries,
    timeoutMs = usualPromptMs,
    retryDelayMs = pause.first,
    fallbackModels = [],
  }: Pick<GraphNode, 'maxRetries' | 'timeoutMs' | 'retryDelayMs' | 'fallbackModels'>,
  { underWay, continuation, progress, ask }: Asking<T>,
  prompt: PromptInput,
): Promise<T> {
  const summary = `prompt of ${prompt.stageId}`;
  if (!ask && !hasChange('model-attempts')) {
    return proxyActivities<Pick<RunActivities, 'runPrompt'>>({
      startToCloseTimeout: timeoutMs,
      heartbeatTimeout,
      retry: { ...retry, maximumAttempts: maxRetries + 1 },
      summary,
    }).runPrompt(prompt) as Promise<T>;
  }
  const usual = proxyActivities<Pick<RunActivities, 'runPrompt'>>(promptActivityOptions({ timeoutMs }, summary));
  const once = ask ?? ((input: PromptInput) => usual.runPrompt(input) as Promise<T>);
  for (let attempt = underWay.attempt ?? 1; ; attempt += 1) {
    if (underWay.untilMs !== undefined) {
      const { untilMs } = underWay;
      await continuation.wait(() => false, { untilMs, summary: `next attempt of ${prompt.stageId}` });
    }
    if (continuation.isDue) {
      throw new SuspendedError();
    }
    try {
      const { at } = underWay.fallback ?? { at: 0 };
      const model = at === 0 ? {} : { model: fallbackModels[at - 1] as string };
      return await continuation.duringPrompt(() => once({ ...prompt, ...model, attempt, timeoutMs }));
    } catch (error) {
      const { at, from } = underWay.fallback ?? { at: 0, from: 1 };
      const failure = modelFailureOf(error);
      if (attempt - from >= maxRetries || failure?.retryable !== true) {
        const next = fallbackModels[at];
        if (next === undefined || !failure) {
          throw error;
        }
        underWay.fallback = { at: at + 1, from: attempt + 1 };
        underWay.attempt = attempt + 1;
        delete underWay.untilMs;
        const { stageId } = prompt;
        progress.record(
          { StageFallback: { stage_id: stageId, model: next, error: failure.message } },
          `${stageId}/${at}`,
        );
        continue;
      }
      underWay.attempt = attempt + 1;
      const pauseMs = Math.min(retryDelayMs * 2 ** (attempt - from), Math.max(pause.longest, retryDelayMs));
      underWay.untilMs = Date.now() + Math.max(pauseMs, Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs));
    }
  }
}

/** What a model failed with; `undefined` for any other failure. */
function modelFailureOf(
  error: unknown,
): { message: string; retryable: boolean; retryAfterMs?: number | undefined } | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== modelFailed) {
    return undefined;
  }
  const { retryable = false, retryAfterMs } =
    (cause.details?.[0] as { retryable?: boolean; retryAfterMs?: number } | undefined) ?? {};
  return { message: cause.message, retryable, retryAfterMs };
}
