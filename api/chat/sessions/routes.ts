import { z } from 'zod';
import {
  chatHistoryQuery,
  chatId,
  chatMessage,
  type ChatSend,
  chatSend,
  chatSent,
  chatSession,
  chatSessionQuery,
  type ChatSessionSummary,
  chatSessionSummary,
} from '../../../contracts/chat/session';
import { assertFound, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { withoutTags } from '../../../platform/text/without-tags';
import type { ApiContext } from '../../context';
import { assertAllowed } from '../../governance/assert-allowed';

const tag = 'chat';
const idParams = z.strictObject({ id: chatId });
const reads = { tag, method: 'get' as const, permission: 'task:read' };

/** Messages in the response of a session; earlier ones are in its history. */
const shownMessages = 100;

/** A session is called by the beginning of its first message. */
const titleOf = (message: string): string => withoutTags(message).replace(/\s+/g, ' ').slice(0, 80) || 'Untitled';

/** Chat sessions (specification 1, Chat and squad). No model is behind them: messages are stored and published. */
export function chatRoutes(
  routes: Routes,
  { chats, board, feed, rules }: Pick<ApiContext, 'chats' | 'board' | 'feed' | 'rules'>,
): void {
  async function find(id: string): Promise<ChatSessionSummary> {
    const session = await chats.get(id);
    assertFound(session, 'chat session', id);
    return session;
  }

  /** The session that a message goes to, unless it begins one. */
  async function sessionOf({ sessionId, taskId }: ChatSend): Promise<ChatSessionSummary | undefined> {
    if (sessionId === undefined && taskId !== undefined) {
      assertFound(await board.get(taskId), 'task', taskId);
    }
    return sessionId === undefined ? undefined : find(sessionId);
  }

  const begin = ({ taskId, message, agent, model, mode = 'ask' }: ChatSend): Promise<ChatSessionSummary> =>
    chats.create(compact({ taskId, title: titleOf(message), agent, model, mode }));

  routes.add(
    {
      tag,
      method: 'post',
      path: '/chat/send',
      operationId: 'sendChatMessage',
      summary: 'Send a chat message to a session, or to a new one, and notify its watchers',
      permission: 'comment:write',
      body: chatSend,
      response: chatSent,
      status: 201,
      errors: [404, 409],
    },
    async ({ body, auth }) => {
      const session = await sessionOf(body);
      const asked = {
        taskId: session?.taskId ?? body.taskId,
        actor: auth.actor,
        also: ['chat-message'],
        subject: body,
      };
      await assertAllowed({ rules, board }, 'external-message', asked);
      const { id: sessionId } = session ?? (await begin(body));
      const { agent, model } = body;
      const role = auth.actorType === 'agent' ? ('assistant' as const) : ('user' as const);
      const submitted = compact({ role, content: body.message, agent, model, createdBy: auth.actor });
      const message = await chats.addMessage(sessionId, submitted);
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
      summary: 'List chat sessions, most recently active first',
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
      params: idParams,
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
      summary: 'List messages of a chat session before a sequence, oldest first',
      params: idParams,
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
      summary: 'Delete a chat session with its messages',
      permission: 'comment:write',
      params: idParams,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'chat-session.delete', resource: params.id }),
    },
    async ({ params: { id } }) => {
      if (!(await chats.remove(id))) {
        throw notFound('chat session', id);
      }
      return undefined;
    },
  );
}
