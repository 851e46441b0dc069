import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type MessageProofs, startProofMs } from '../../../../platform/crypto/message-proof';
import type { MessageProof } from '../../../../platform/crypto/message-proof-shape';
import { compact } from '../../../../platform/json/compact';
import { ModelError } from '../../../../platform/models/errors';
import type { Model } from '../../../../platform/models/model';
import type { Models } from '../../../../platform/models/models';
import { tokensOf } from '../../../../platform/models/tokens';
import { withHeartbeat } from '../../../../platform/temporal/heartbeat';
import type { ProofVerifier } from '../../../../platform/temporal/proof-verifier';
import { ownExecution } from '../../../../platform/temporal/workers/own-execution';
import { cut } from '../../../../platform/text/cut';
import type { SchemaChecker } from '../../schemas/schema-checker';
import type { Dispatcher } from '../dispatcher';
import { assertOpen } from '../open-run';
import { hasEnded, type Usage } from '../run';
import { completeFitting, MisfitError } from '../stages/fitting-answer';
import type { ContinuationKey, ContinuationStore } from './continuations';
import { withGuidance } from './guidance';
import { type Guidance, modelFailed, type RunInput, runMessage, type RunMessageKind, type Signed } from './messages';
import type { StoredTexts } from './progress-state';
import { createRunWriter, type RunWriterDependencies } from './projection';
import type { StageMessageStore } from './turns';

export interface RunActivityDependencies extends RunWriterDependencies {
  turns: StageMessageStore;
  continuations: ContinuationStore;
  dispatcher: Dispatcher;
  models: Models;
  schemas: SchemaChecker;
  proofs: ProofVerifier;
  messageProofs: Pick<MessageProofs, 'sign'>;
  now: () => Date;
}

/** A message to a run, and when its workflow accepted it, in milliseconds. */
export interface MessageToVerify {
  kind: RunMessageKind;
  runId: string;
  message: Signed & object;
  acceptedAtMs: number;
}

export interface PromptInput {
  runId: string;
  stageId: string;
  prompt: string;
  /** Goes with the prompt, as far as the model has room; absent in histories of earlier versions, whose prompts hold it. */
  guidance?: Guidance[];
  system?: string;
  model?: string;
  maxTokens?: number;
  /** The JSON schema that the answer has to fit. */
  schema?: Record<string, unknown>;
  /** How often the model was asked before, and itself: 1, 2 …; absent in histories of earlier versions, whose attempts Temporal counts. */
  attempt?: number;
  /** How long the model may take, in milliseconds; its provider's limit when absent. */
  timeoutMs?: number;
}

export interface PromptAnswer {
  text: string;
  /** The value of an answer that fits its schema; absent without one. */
  output?: unknown;
  /** Id of the model that answered. */
  model: string;
  usage: Usage;
  /** How often it was asked again. */
  retries: number;
  /** Why it ended before the model was done: at its limit of tokens, and the like. */
  stopReason?: string;
}

/** The part of an answer that a run stores among its values; all of it is in the turns of the stage. */
export const keptCharacters = 8_000;

/** Tokens of the context that an answer may take; guidance leaves it at least a quarter. */
export const answerRoom = (
  { context_window: window, max_output = window }: Model['limits'],
  maxTokens = max_output,
): number => Math.min(maxTokens, Math.floor(window / 4));

export function createRunActivities(dependencies: RunActivityDependencies) {
  const { runs, turns, checkpoints, continuations, children, events, dispatcher, models, schemas } = dependencies;
  const { proofs, messageProofs } = dependencies;
  return {
    /** Refuses a message that the service has not signed. @throws ApplicationFailure `MESSAGE_UNPROVEN` */
    verifyMessage: ({ kind, runId, message, acceptedAtMs }: MessageToVerify): Promise<void> =>
      proofs.require(runMessage(kind, runId, message), message.proof, acceptedAtMs),

    saveRun: createRunWriter({ runs, checkpoints, children, events }),

    /**
     * Stores what the next execution of a run takes over, and proves its input.
     *
     * @throws ApplicationFailure unless this worker runs the workflow
     */
    async prepareContinuation(input: RunInput, texts: StoredTexts, firstExecutionId: string): Promise<MessageProof> {
      ownExecution('A continuation is proven for its own workflow only.');
      const version = input.state?.progress.version ?? 0;
      await continuations.put({ runId: input.runId, version, firstExecutionId }, texts);
      return messageProofs.sign(runMessage('continue', input.runId, input), startProofMs);
    },

    /**
     * What an execution takes over from the one before. Also of a run that has ended: a workflow task that is repeated after a crash may
     * have ended it, and has its last events to write.
     *
     * @throws ApplicationFailure when another execution has taken over since, or the execution continues none of the run's
     */
    async loadContinuation(key: ContinuationKey): Promise<StoredTexts> {
      const texts = await continuations.get(key);
      if (!texts) {
        throw ApplicationFailure.nonRetryable('The run has ended, or was continued by another execution.');
      }
      return texts;
    },

    /**
     * Deletes what executions of a run took over, once it has ended. Not local: the workflow task that read it is complete when this
     * begins, and is not repeated.
     */
    async deleteContinuation({ runId }: { runId: string }): Promise<void> {
      const run = await runs.get(runId);
      if (run && hasEnded(run.status)) {
        await continuations.delete(runId);
      }
    },

    /** There may be capacity for another run now. */
    runEnded: (): Promise<void> => dispatcher.lookIfQueued(),

    startQueued: (): Promise<void> => dispatcher.startQueued(),

    /**
     * Asks the model, and stores the whole conversation as the turns of the stage.
     *
     * @throws ApplicationFailure `MODEL` with `{attempt, retryable}` when the model does not answer. Temporal retries it only for histories
     *   of earlier versions; anything else that goes wrong is no attempt of the model's
     */
    async runPrompt({
      runId,
      stageId,
      guidance = [],
      system,
      model,
      maxTokens,
      schema,
      ...asked
    }: PromptInput): Promise<PromptAnswer> {
      const run = await runs.get(runId);
      if (!run) {
        throw ApplicationFailure.nonRetryable('The run does not exist.', modelFailed);
      }
      assertOpen(run);
      const { attempt = Context.current().info.attempt, timeoutMs } = asked;
      try {
        const { limits } = models.choose(compact({ model }));
        const room = limits.context_window - answerRoom(limits, maxTokens) - tokensOf(system ?? '');
        const prompt = withGuidance(asked.prompt, guidance, room);
        const request = {
          messages: [{ role: 'user' as const, content: [{ kind: 'text' as const, data: prompt }] }],
          ...compact({ system, model, max_tokens: maxTokens }),
        };
        const { answer, output } = await withHeartbeat((signal) =>
          completeFitting(
            { models, schemas },
            { ...request, ...compact({ schema }) },
            { signal, ...compact({ timeoutMs }) },
          ),
        );
        await turns.put(runId, stageId, [
          ...(system === undefined ? [] : [{ kind: 'system' as const, content: system }]),
          { kind: 'user' as const, content: prompt },
          { kind: 'assistant' as const, content: answer.text },
        ]);
        const { text, usage, stopReason } = answer;
        return {
          text: cut(text, keptCharacters),
          ...(schema && { output }),
          model: answer.model,
          usage,
          retries: attempt - 1,
          ...(stopReason !== 'end_turn' && { stopReason }),
        };
      } catch (error) {
        return throwModelFailure(
          dependencies,
          { runId, stageId, attempt, retriedHere: asked.attempt !== undefined },
          error,
        );
      }
    },
  };
}

/** Where attempts that failed are recorded. */
export type ModelFailures = Pick<RunActivityDependencies, 'events' | 'now'>;

/**
 * Fails an activity with what a model failed with; any other error is thrown as it is.
 *
 * @throws ApplicationFailure `MODEL` with `{attempt, retryable, retryAfterMs?}`
 */
export async function throwModelFailure(
  { events, now }: ModelFailures,
  {
    runId,
    stageId,
    attempt,
    retriedHere,
  }: {
    runId: string;
    stageId: string;
    attempt: number;
    /** Its workflow counts the attempts, and not Temporal. */ retriedHere: boolean;
  },
  error: unknown,
): Promise<never> {
  Context.current().cancellationSignal.throwIfAborted();
  if (!(error instanceof ModelError || error instanceof MisfitError)) {
    throw error;
  }
  const { message, retryable } = error;
  if (retryable) {
    const event = { StageRetrying: { stage_id: stageId, attempt, error: message } };
    await events.append(runId, [{ at: now().toISOString(), event, dedupeKey: `${stageId}/try/${attempt}` }]);
  }
  const nonRetryable = !retryable || retriedHere;
  const { retryAfterMs } = error instanceof ModelError ? error : {};
  const details = [{ attempt, retryable, ...compact({ retryAfterMs }) }];
  throw ApplicationFailure.create({ type: modelFailed, message, nonRetryable, details });
}

export type RunActivities = ReturnType<typeof createRunActivities>;
