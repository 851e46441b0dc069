import { ApplicationFailure, Context } from '@temporalio/activity';
import type { ModelAnswer, ModelRequest } from '../../../platform/models/request';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { WorkflowRunsContext } from '../context';
import { askedCall, maxCalls, maxTalk } from '../runs/talks/offered-tools';
import { createGenerator } from './generator';
import type { Acceptance, SessionMessage } from './messages';
import type { Exchange } from './session';
import type { AskedRound, RoundInput } from './tools/messages';
import { roundsOf } from './tools/rounds';
import { type OpenedTools, openTools } from './tools/session-tools';

const noCalls: AskedRound = { calls: 0 };

/** The last time a model is asked it is to answer, and may call nothing. */
const toolsOf = ({ tools }: OpenedTools, isLast: boolean): Pick<ModelRequest, 'tools' | 'tool_choice'> => ({
  tools,
  ...(isLast && { tool_choice: { mode: 'none' } }),
});

const modelFailure = (message: string, isRetryable: boolean): ApplicationFailure =>
  ApplicationFailure.create({ type: 'MODEL', message, nonRetryable: !isRetryable });

/** What the workflow of a message calls. Each may be repeated. */
export function createSessionActivities(
  context: Pick<WorkflowRunsContext, 'sessions' | 'models' | 'board' | 'now' | 'ending'>,
) {
  const { sessions, board, now } = context;
  const { events } = sessions;
  const generate = createGenerator(context);

  return {
    /** Adds a message to its session, or opens one with it, and supersedes the answers to earlier messages. */
    async acceptMessage({ id }: SessionMessage): Promise<Acceptance> {
      const draft = await sessions.draft(id);
      if (!draft) {
        return (await sessions.exchange(id)) ? 'accepted' : 'missing';
      }
      const { session, created_at: at, opens } = draft;
      if (opens) {
        await sessions.open(draft, opens);
      } else if (!(await sessions.get(session))) {
        return 'missing';
      }
      if (!(await sessions.exchange(id)) && (await sessions.isFull(session))) {
        return 'full';
      }
      const exchange = await sessions.accept(draft);
      for (const { _id, number: turn } of await sessions.unanswered(exchange)) {
        await events.append(session, at, { key: `${_id}/superseded`, event: 'superseded', data: { turn } });
        await sessions.supersede(_id);
      }
      // The last step: without its draft a message has gone through all of them.
      await sessions.removeDraft(id);
      return 'accepted';
    },

    /**
     * Asks the model for the answer to a message and stores it, while watchers receive it piece by piece; or stores the calls that it asks for
     * first. Ends without either when another message has come.
     *
     * @throws ApplicationFailure `MODEL` or `TOOLS`, not to be tried again when that would not help
     */
    answerMessage: ({ id, round = 1 }: RoundInput): Promise<AskedRound> =>
      withHeartbeat(async (cancelled) => {
        const exchange = await sessions.exchange(id);
        const session = exchange && (await sessions.get(exchange.session));
        if (!session) {
          throw ApplicationFailure.nonRetryable('The message no longer exists.');
        }
        if (exchange.state === 'superseded' || exchange.state === 'failed') {
          return noCalls;
        }
        if (exchange.state === 'generating' && !roundsOf(exchange)[round - 1]) {
          const opened = session.tools && (await openTools(board, session.tools));
          if (opened && 'waiting' in opened) {
            await publishWaiting(exchange, opened.waiting);
            return { waiting: true };
          }
          const { attempt } = Context.current().info;
          const tools = opened && toolsOf(opened, round >= (session.tools?.maxTurns ?? 1));
          const answer = await generate({ session, exchange, tools, round, attempt, cancelled });
          if (answer === undefined) {
            return noCalls;
          }
          if (opened && answer.toolCalls.length > 0) {
            await storeRound(exchange, answer, opened);
          } else {
            await storeAnswer(id, answer);
          }
        }
        return publishRound(id, round);
      }),

    /** Notifies watchers that a message gets no answer. */
    async tellFailure({ id, message }: { id: string; message: string }): Promise<void> {
      const exchange = await sessions.end(id, { state: 'failed' });
      if (!exchange) {
        return;
      }
      const { session, number: turn } = exchange;
      const event = { key: `${id}/error`, event: 'error' as const, data: { message, turn } };
      await events.append(session, now().toISOString(), event);
    },
  };

  async function storeAnswer(id: string, { text: content, stopReason }: ModelAnswer): Promise<void> {
    const cut = stopReason !== 'end_turn' && { stop_reason: stopReason };
    await sessions.end(id, { state: 'answered', answer: { content, ...cut, created_at: now().toISOString() } });
  }

  /** Stores the calls that a model asks for, unless another message has come, or another try was answered before. */
  async function storeRound(
    exchange: Exchange,
    { text, thinking, toolCalls }: ModelAnswer,
    { digest: catalog, offered }: OpenedTools,
  ): Promise<void> {
    if (toolCalls.length > maxCalls) {
      throw modelFailure(`It calls more than ${maxCalls} tools at a time.`, true);
    }
    const calls = toolCalls.map((call) => askedCall(call, offered));
    const asked = { text, thinking, toolCalls, calls, catalog, created_at: now().toISOString(), results: [] };
    const rounds = [...roundsOf(exchange), asked];
    if (JSON.stringify(rounds).length > maxTalk) {
      throw modelFailure(`What it and its tools exchange has more than ${maxTalk} characters.`, false);
    }
    await sessions.putRounds(exchange, rounds, ['generating']);
  }

  async function publishWaiting({ _id, session, number: turn }: Exchange, reason: string): Promise<void> {
    const event = { key: `${_id}/board`, event: 'tool_waiting' as const, data: { reason, turn } };
    await events.append(session, now().toISOString(), event);
  }

  /** Publishes what a model answered, with how many calls. */
  async function publishRound(id: string, round: number): Promise<AskedRound> {
    const exchange = await sessions.exchange(id);
    const asked = exchange && roundsOf(exchange)[round - 1];
    if (!asked || exchange.state !== 'generating') {
      await publishAnswer(exchange);
      return noCalls;
    }
    if (asked.text !== '') {
      const { session, number: turn } = exchange;
      const data = { kind: 'assistant' as const, content: asked.text, created_at: asked.created_at, turn };
      await events.append(session, asked.created_at, { key: `${id}/${round}/turn`, event: 'assistant_turn', data });
    }
    return { calls: asked.calls.length };
  }

  /** Publishes a final answer to watchers. */
  async function publishAnswer(exchange: Exchange | undefined): Promise<void> {
    if (!exchange?.answer) {
      return;
    }
    const { _id: id } = exchange;
    const { session, number: turn, answer } = exchange;
    await events.append(
      session,
      answer.created_at,
      { key: `${id}/turn`, event: 'assistant_turn', data: { kind: 'assistant', ...answer, turn } },
      { key: `${id}/done`, event: 'done', data: { turn } },
    );
  }
}

export type SessionActivities = ReturnType<typeof createSessionActivities>;
