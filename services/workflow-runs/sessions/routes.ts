import { z } from 'zod';
import { compact } from '../../../platform/json/compact';
import { ModelError } from '../../../platform/models/errors';
import type { Model } from '../../../platform/models/model';
import { operationUuid } from '../../../platform/operations/new-ids';
import type { OpenArea } from '../context';
import { usePermission } from '../http/auth';
import { callerLeft } from '../http/caller-left';
import { refuse } from '../http/errors';
import { assertReached, eventStream, lastEventId } from '../http/event-stream';
import { pageOf, pageQuery, readPage } from '../http/pages';
import { ping, withPings } from '../http/pings';
import { refusalOf } from '../models/refusal';
import { titleOf } from './brief';
import { sendMessage } from './launcher';
import {
  accepted,
  type Draft,
  listedSession,
  newMessage,
  type NewSession,
  newSession,
  presentSession,
  session,
  sessionId,
  type SessionRecord,
  sessionWithTurns,
} from './session';
import { sessionStream } from './stream';
import { sessionTools } from './tools/new-session-tools';
import { turnsOf } from './tools/rounds';

const shared = { mount: 'root', tag: 'sessions', permission: usePermission } as const;
const params = z.object({ id: sessionId });

/** Conversations with a model that this service stores. */
export const openSessions: OpenArea = async (context) => {
  const { sessions, models, env, now, ending } = context;

  async function requireSession(id: string): Promise<SessionRecord> {
    const found = await sessions.get(id);
    if (!found) {
      throw refuse(404, 'Session not found.');
    }
    return found;
  }

  function chosen({ model, tools }: NewSession): Model {
    try {
      const found = models.choose(compact({ model }));
      if (tools && !found.features.tools) {
        throw refuse(422, `${found.id} does not support tools.`);
      }
      return found;
    } catch (error) {
      throw error instanceof ModelError ? refusalOf(error) : error;
    }
  }

  const draft = (to: string, content: string): Draft => ({
    _id: operationUuid(),
    session: to,
    content,
    created_at: now().toISOString(),
  });

  return (routes) => {
    routes.add(
      {
        ...shared,
        method: 'post',
        path: '/sessions',
        operationId: 'createSession',
        summary: 'Create a session with its first message',
        body: newSession,
        response: session,
        status: 201,
        errors: [400, 404, 429, 503],
      },
      async ({ body, auth }) => {
        const { content, system } = body;
        const model = chosen(body).id;
        const id = operationUuid();
        const tools = await sessionTools(context, id, body);
        const opens = { title: titleOf(content), model, ...compact({ system, tools }), created_by: auth.userId };
        await sendMessage(context, { ...draft(id, content), opens });
        return presentSession(await requireSession(id));
      },
    );
    routes.add(
      {
        ...shared,
        method: 'get',
        path: '/sessions',
        operationId: 'listSessions',
        summary: 'List sessions, most recently updated first',
        query: pageQuery,
        response: pageOf(listedSession),
      },
      async ({ query }) => {
        const { data, meta } = await readPage(query, (page) => sessions.list(page));
        return {
          data: data.map((each) => ({ ...presentSession(each), last_message_preview: each.last_message_preview })),
          meta,
        };
      },
    );
    routes.add(
      {
        ...shared,
        method: 'get',
        path: '/sessions/:id',
        operationId: 'getSession',
        summary: 'Read a session with its turns',
        params,
        response: sessionWithTurns,
        errors: [404],
      },
      async ({ params: { id } }) => {
        const found = await requireSession(id);
        return { ...presentSession(found), turns: (await sessions.exchanges(id)).flatMap(turnsOf) };
      },
    );
    routes.add(
      {
        ...shared,
        method: 'post',
        path: '/sessions/:id/messages',
        operationId: 'sendMessage',
        summary: 'Send a message to a session and abort the response in progress',
        params,
        body: newMessage,
        response: accepted,
        status: 202,
        errors: [404, 409, 503],
      },
      async ({ params: { id }, body: { content } }) => {
        await requireSession(id);
        await sendMessage(context, draft(id, content));
        return { accepted: true as const };
      },
    );
    routes.add(
      {
        ...shared,
        method: 'get',
        path: '/sessions/:id/events',
        operationId: 'watchSession',
        summary: 'Stream session events, from the start or after Last-Event-ID',
        params,
        response: z.string(),
        errors: [404],
      },
      async ({ params: { id }, header }, ctx) => {
        await requireSession(id);
        const after = lastEventId(header('last-event-id')) ?? 0;
        assertReached(after, after === 0 ? 0 : await sessions.events.last(id));
        const signal = AbortSignal.any([callerLeft(ctx), ending]);
        const events = sessionStream(sessions.events, id, { after, signal });
        return eventStream(withPings(events, env.WORKFLOW_RUNS_PING_MS, ping));
      },
    );
  };
};
