import { ApplicationFailure } from '@temporalio/common';
import { compact } from '../../../../platform/json/compact';
import type { Models } from '../../../../platform/models/models';
import { tokensOf } from '../../../../platform/models/tokens';
import { withHeartbeat } from '../../../../platform/temporal/heartbeat';
import { cut } from '../../../../platform/text/cut';
import type { BoardClient } from '../../board/board-client';
import type { SchemaChecker } from '../../schemas/schema-checker';
import { answerRoom, keptCharacters, type ModelFailures, throwModelFailure } from '../execution/activities';
import { withGuidance } from '../execution/guidance';
import { modelFailed } from '../execution/messages';
import type { StageMessageStore } from '../execution/turns';
import { assertOpen } from '../open-run';
import { completeFitting, MisfitError } from '../stages/fitting-answer';
import type { RunStore } from '../store';
import type { PromptTurn, PromptTurnInput, ToolResultInput } from './messages';
import { askedCall, maxCalls, maxResult, maxTalk, offeredTools } from './offered-tools';
import type { StoredTalk, Talk, TalkStore } from './store';
import { talkMessages, talkTurns } from './transcript';

export interface TalkDependencies extends ModelFailures {
  runs: Pick<RunStore, 'get'>;
  turns: StageMessageStore;
  talks: TalkStore;
  board?: BoardClient | undefined;
  models: Models;
  schemas: SchemaChecker;
}

type StageOfTalk = Pick<PromptTurnInput, 'runId' | 'stageId'>;

/** Another try of the activity has changed the talk: what this one would store does not follow from it. */
class TalkChangedError extends Error {
  override readonly name = 'TalkChangedError';

  constructor() {
    super('Another try has continued what the model and its tools exchange.');
  }
}

/** The turns of prompts whose models may call tools: each is asked once, and answered the same when it is repeated. */
export function createTalkActivities(deps: TalkDependencies) {
  const { runs, turns, talks, board, models, schemas, now } = deps;

  /** Stores a talk that follows from the seen one. @throws TalkChangedError when another try was first */
  async function store(stage: StageOfTalk, seen: StoredTalk | undefined, talk: Talk): Promise<void> {
    const { runId, stageId } = stage;
    if (!(await talks.replace({ runId, stageId, at: now(), seen }, talk))) {
      throw new TalkChangedError();
    }
    await turns.put(runId, stageId, talkTurns(talk));
  }

  async function ask(input: PromptTurnInput): Promise<PromptTurn> {
    const { runId, stageId, turn, isLast, offers, servers, guidance = [], system, model, maxTokens, schema } = input;
    const stored = await talks.get(runId, stageId);
    const answered = stored?.talk.turns[turn - 1];
    if (stored && answered) {
      // The try that has stored it may have ended before this.
      await turns.put(runId, stageId, talkTurns(stored.talk));
      return answered.answer;
    }
    if (!board) {
      throw new MisfitError('Tools are not called here: WORKFLOW_RUNS_BOARD_URL is not set.', false);
    }
    const { limits } = models.choose(compact({ model }));
    const room = limits.context_window - answerRoom(limits, maxTokens) - tokensOf(system ?? '');
    const talk: Talk = stored?.talk ?? {
      prompt: withGuidance(input.prompt, guidance, room),
      turns: [],
      ...compact({ system }),
    };
    if (JSON.stringify(talk).length > maxTalk) {
      throw new MisfitError(`What it and its tools exchange has more than ${maxTalk} characters.`, false);
    }
    const { offered, tools } = offeredTools(await board.catalogTools(runId, servers), offers);
    const request = {
      ...{ messages: talkMessages(talk), tools },
      ...(isLast && { tool_choice: { mode: 'none' as const } }),
      ...compact({ system, model, max_tokens: maxTokens, schema }),
    };
    const { answer, output } = await withHeartbeat((signal) =>
      completeFitting({ models, schemas }, request, { signal, ...compact({ timeoutMs: input.timeoutMs }) }),
    );
    const { text, thinking, toolCalls, usage, stopReason } = answer;
    if (toolCalls.length > maxCalls) {
      throw new MisfitError(`It calls more than ${maxCalls} tools at a time.`, true);
    }
    const result: PromptTurn = {
      ...{ text: cut(text, keptCharacters), model: answer.model, usage, retries: (input.attempt ?? 1) - 1 },
      ...(schema && { output }),
      ...(stopReason !== 'end_turn' && stopReason !== 'tool_calls' && { stopReason }),
      calls: toolCalls.map((call) => askedCall(call, offered)),
    };
    const asked = { answer: result, text, thinking, toolCalls, results: [] };
    await store(input, stored, { ...talk, turns: [...talk.turns, asked] });
    return result;
  }

  /** The answer that stands: the first one that was stored. */
  async function askOnce(input: PromptTurnInput): Promise<PromptTurn> {
    try {
      return await ask(input);
    } catch (error) {
      const stored = error instanceof TalkChangedError ? await talks.get(input.runId, input.stageId) : undefined;
      const answered = stored?.talk.turns[input.turn - 1];
      if (!answered) {
        throw error;
      }
      return answered.answer;
    }
  }

  return {
    /** @throws ApplicationFailure `MODEL`, as `runPrompt` does */
    async runPromptTurn(input: PromptTurnInput): Promise<PromptTurn> {
      const { runId, stageId, attempt = 1 } = input;
      const run = await runs.get(runId);
      if (!run) {
        throw ApplicationFailure.nonRetryable('The run does not exist.', modelFailed);
      }
      assertOpen(run);
      try {
        return await askOnce(input);
      } catch (error) {
        return throwModelFailure(deps, { runId, stageId, attempt, retriedHere: true }, error);
      }
    },

    /** Stores what came of a call, for the next turn; the first result of a call stands. */
    async recordToolResult({ runId, stageId, turn, ...result }: ToolResultInput): Promise<void> {
      const stored = await talks.get(runId, stageId);
      const at = stored?.talk.turns[turn - 1];
      if (!stored || !at || at.results.some(({ callId }) => callId === result.callId)) {
        return;
      }
      const content = cut(result.content, maxResult);
      const changed = { ...at, results: [...at.results, { ...result, content }] };
      const { talk } = stored;
      await store({ runId, stageId }, stored, { ...talk, turns: talk.turns.with(turn - 1, changed) });
    },
  };
}
export type TalkActivities = ReturnType<typeof createTalkActivities>;
