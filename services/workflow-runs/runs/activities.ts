import { ApplicationFailure } from '@temporalio/common';
import { Context } from '@temporalio/activity';
import type { EntryLog } from '../../../stores/collection';
import type { Dispatcher } from './dispatcher';
import type { RunEventEntry } from './events';
import { PromptError, type PromptModel, type PromptAnswer } from './prompt-model';
import type { RunUpdate } from './progress';
import { applyUpdate } from './projection';
import type { RunStore } from './store';
import type { TurnStore } from './turns';

export interface RunActivityDependencies {
  runs: RunStore;
  turns: TurnStore;
  events: EntryLog<RunEventEntry>;
  dispatcher: Dispatcher;
  model: PromptModel;
  now: () => Date;
}

export interface PromptInput {
  runId: string;
  stageId: string;
  prompt: string;
  system?: string;
  model?: string;
  maxTokens?: number;
}

/** What a run keeps of an answer among its values; all of it is in the turns of the stage. */
const keptCharacters = 8_000;
const heartbeatMs = 3_000;

export function createRunActivities({ runs, turns, events, dispatcher, model, now }: RunActivityDependencies) {
  return {
    /** Writes down what a run has told of itself: first its record, then the events that watchers hear. Repeatable. */
    async saveRun(update: RunUpdate): Promise<void> {
      const { runId, version } = update;
      await runs.project(runId, version, (run) => applyUpdate(run, update));
      const entries = update.events.map(({ at, event }, index) => ({ at, event, dedupeKey: `${version}.${index}` }));
      if (entries.length > 0) await events.append(runId, entries);
    },

    /** There may be room for another run now. */
    runEnded: (): Promise<void> => dispatcher.lookAgain(),

    startQueued: (): Promise<void> => dispatcher.startQueued(),

    /**
     * Asks the model, and keeps the whole conversation as the turns of the stage.
     *
     * @throws ApplicationFailure to be tried again, or not when it would be of no use
     */
    async runPrompt(input: PromptInput): Promise<PromptAnswer & { retries: number }> {
      const { runId, stageId, ...request } = input;
      const activity = Context.current();
      const { attempt } = activity.info;
      const beat = setInterval(() => activity.heartbeat(), heartbeatMs);
      try {
        const answer = await model(request, activity.cancellationSignal);
        await turns.put(runId, stageId, [
          ...(request.system === undefined ? [] : [{ kind: 'system' as const, content: request.system }]),
          { kind: 'user' as const, content: request.prompt },
          { kind: 'assistant' as const, content: answer.text },
        ]);
        return { ...answer, text: answer.text.slice(0, keptCharacters), retries: attempt - 1 };
      } catch (error) {
        activity.cancellationSignal.throwIfAborted();
        if (!(error instanceof PromptError)) throw error;
        const { message, retryable } = error;
        if (retryable) {
          const event = { StageRetrying: { stage_id: stageId, attempt, error: message } };
          await events.append(runId, [{ at: now().toISOString(), event, dedupeKey: `${stageId}/try/${attempt}` }]);
        }
        throw ApplicationFailure.create({ type: 'PROMPT', message, nonRetryable: !retryable, details: [{ attempt }] });
      } finally {
        clearInterval(beat);
      }
    },
  };
}

export type RunActivities = ReturnType<typeof createRunActivities>;
