import { z } from 'zod';
import {
  chatHistoryQuery,
  chatId,
  chatMessage,
  chatSend,
  chatSent,
  chatSession,
  chatSessionQuery,
  chatSessionSummary,
  type ChatSend,
  type ChatSessionSummary,
} from '../../contracts/chat';
import { assertFound, notFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { withoutUndefined } from '../../platform/json/without-undefined';
import type { ApiContext } from '../context';
import { withoutTags } from '../tasks/plain-text';

const tag = 'chat';
const byId = z.strictObject({ id: chatId });
const reads = { tag, method: 'get' as const, permission: 'task:read' };

/** Messages that a session is answered with; earlier ones are in its history. */
const shownMessages = 100;

/** A session is called by the beginning of its first message. */
const titleOf = (message: string): string => withoutTags(message).replace(/\s+/g, ' ').slice(0, 80) || 'Untitled';

/** Chat sessions (specification 1, Chat and squad). No model is behind them: what is sent is kept and told. */
export function chatRoutes(routes: Routes, { chats, board, feed }: Pick<ApiContext, 'chats' | 'board' | 'feed'>): void {
  async function find(id: string): Promise<ChatSessionSummary> {
    const found = await chats.get(id);
    assertFound(found, 'chat session', id);
    return found;
  }

  async function begin({ taskId, message, agent, model, mode = 'ask' }: ChatSend): Promise<ChatSessionSummary> {
    if (taskId !== undefined) assertFound(await board.get(taskId), 'task', taskId);
    return chats.create(withoutUndefined({ taskId, title: titleOf(message), agent, model, mode }));
  }

  routes.add(
    {
      tag,
      method: 'post',
      path: '/chat/send',
      operationId: 'sendChatMessage',
      summary: 'Say something in a chat session, or in a new one; those who follow it are told, and nothing answers',
      permission: 'comment:write',
      body: chatSend,
      response: chatSent,
      status: 201,
      errors: [404, 409],
    },
    async ({ body, auth }) => {
      const { id: sessionId } = body.sessionId === undefined ? await begin(body) : await find(body.sessionId);
      const { agent, model } = body;
      const role = auth.actorType === 'agent' ? ('assistant' as const) : ('user' as const);
      const said = withoutUndefined({ role, content: body.message, agent, model, createdBy: auth.actor });
      const message = await chats.say(sessionId, said);
      assertFound(message, 'chat session', sessionId);
      await feed.append({ type: 'notice', notice: { type: 'chat:message', sessionId, message } });
      return { sessionId, message };
    },
  );

  routes.add(
    {
      ...reads,
      path: '/chat/sessions',
      operationId: 'listChatSessions',
      summary: 'List the chat sessions, the one last spoken in first',
      query: chatSessionQuery,
      response: z.array(chatSessionSummary),
    },
    ({ query }) => chats.list(query),
  );

  routes.add(
    {
      ...reads,
      path: '/chat/sessions/:id',
      operationId: 'getChatSession',
      summary: 'Read a chat session with its newest 100 messages',
      params: byId,
      response: chatSession,
    },
    async ({ params: { id } }) => ({
      ...(await find(id)),
      messages: (await chats.history(id, { limit: shownMessages })).items,
    }),
  );

  routes.add(
    {
      ...reads,
      path: '/chat/sessions/:id/history',
      operationId: 'readChatHistory',
      summary: 'Read what was said in a chat session before a sequence, the oldest of it first',
      params: byId,
      query: chatHistoryQuery,
      response: z.array(chatMessage),
    },
    async ({ params: { id }, query }) => {
      await find(id);
      return chats.history(id, query);
    },
  );

  routes.add(
    {
      tag,
      method: 'delete',
      path: '/chat/sessions/:id',
      operationId: 'deleteChatSession',
      summary: 'Delete a chat session with all that was said in it',
      permission: 'comment:write',
      params: byId,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'chat-session.delete', resource: params.id }),
    },
    async ({ params: { id } }) => {
      if (!(await chats.remove(id))) throw notFound('chat session', id);
      return undefined;
    },
  );
}
