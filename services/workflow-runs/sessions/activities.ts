import { ApplicationFailure, Context } from '@temporalio/activity';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { WorkflowRunsContext } from '../context';
import { createGenerator } from './generator';
import type { Acceptance, SessionMessage } from './messages';

/** What the workflow of a message calls. Each may be repeated. */
export function createSessionActivities(context: Pick<WorkflowRunsContext, 'sessions' | 'models' | 'now' | 'ending'>) {
  const { sessions, now } = context;
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
     * Asks the model for the answer to a message and stores it, while watchers receive it piece by piece. Ends
     * without an answer when another message has come.
     *
     * @throws ApplicationFailure `MODEL`, not to be tried again when that would not help
     */
    answerMessage: ({ id }: { id: string }): Promise<void> =>
      withHeartbeat(async (cancelled) => {
        const exchange = await sessions.exchange(id);
        const session = exchange && (await sessions.get(exchange.session));
        if (!session) {
          throw ApplicationFailure.nonRetryable('The message no longer exists.');
        }
        if (exchange.state === 'superseded' || exchange.state === 'failed') {
          return;
        }
        if (exchange.state === 'generating') {
          const { attempt } = Context.current().info;
          const generated = await generate({ session, exchange, attempt, cancelled });
          if (generated === undefined) {
            return;
          }
          await sessions.end(id, { state: 'answered', answer: { ...generated, created_at: now().toISOString() } });
        }
        await publishAnswer(id);
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

  /** Publishes a final answer to watchers. */
  async function publishAnswer(id: string): Promise<void> {
    const exchange = await sessions.exchange(id);
    if (!exchange?.answer) {
      return;
    }
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
