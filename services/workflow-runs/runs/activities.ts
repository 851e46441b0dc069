import { ApplicationFailure } from '@temporalio/common';
import { Context } from '@temporalio/activity';
import type { EntryLog } from '../../../stores/collection';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import { ModelError } from '../models/errors';
import type { Models } from '../models/models';
import type { Dispatcher } from './dispatcher';
import type { RunEventEntry } from './events';
import type { RunUpdate } from './progress';
import type { Usage } from './run';
import { applyUpdate } from './projection';
import type { RunStore } from './store';
import type { TurnStore } from './turns';

export interface RunActivityDependencies {
  runs: RunStore;
  turns: TurnStore;
  events: EntryLog<RunEventEntry>;
  dispatcher: Dispatcher;
  models: Models;
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

export interface PromptAnswer {
  text: string;
  /** Id of the model that answered. */
  model: string;
  usage: Usage;
  /** How often it was asked again. */
  retries: number;
}

/** What a run keeps of an answer among its values; all of it is in the turns of the stage. */
const keptCharacters = 8_000;

export function createRunActivities({ runs, turns, events, dispatcher, models, now }: RunActivityDependencies) {
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
    async runPrompt({ runId, stageId, prompt, system, model, maxTokens }: PromptInput): Promise<PromptAnswer> {
      const { attempt } = Context.current().info;
      const request = {
        messages: [{ role: 'user' as const, content: [{ kind: 'text' as const, data: prompt }] }],
        ...(system !== undefined && { system }),
        ...(model !== undefined && { model }),
        ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      };
      try {
        const answer = await withHeartbeat((signal) => models.complete(request, { signal }));
        await turns.put(runId, stageId, [
          ...(system === undefined ? [] : [{ kind: 'system' as const, content: system }]),
          { kind: 'user' as const, content: prompt },
          { kind: 'assistant' as const, content: answer.text },
        ]);
        const { text, usage } = answer;
        return { text: text.slice(0, keptCharacters), model: answer.model, usage, retries: attempt - 1 };
      } catch (error) {
        Context.current().cancellationSignal.throwIfAborted();
        if (!(error instanceof ModelError)) throw error;
        const { message, retryable } = error;
        if (retryable) {
          const event = { StageRetrying: { stage_id: stageId, attempt, error: message } };
          await events.append(runId, [{ at: now().toISOString(), event, dedupeKey: `${stageId}/try/${attempt}` }]);
        }
        throw ApplicationFailure.create({ type: 'MODEL', message, nonRetryable: !retryable, details: [{ attempt }] });
      }
    },
  };
}

export type RunActivities = ReturnType<typeof createRunActivities>;
