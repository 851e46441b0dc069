import { z } from 'zod';
import {
  squadActorQuery,
  squadHit,
  type SquadMessage,
  squadMessage,
  squadMessageCreate,
  squadPin,
  squadQuery,
  squadReaction,
  squadRead,
  squadSearchQuery,
  squadUnread,
} from '../../../contracts/chat/squad';
import { listPage } from '../../../contracts/query';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import { maxReactions, type SquadRecord } from '../../../stores/chat/squad-store';
import type { ApiContext } from '../../context';
import { assertAllowed } from '../../governance/assert-allowed';
import { plainField } from '../../tasks/tasks/plain-text';
import { newMessage } from './message';

const tag = 'squad';
const idParams = z.strictObject({ messageId: z.string().max(64) });
const threadQuery = z.strictObject(listPage(500, 500));
const setting: SwitchableFeature = 'squadChat';
const reads = { tag, setting, method: 'get' as const, permission: 'task:read' };
const writes = { tag, setting, method: 'post' as const, permission: 'comment:write' };

/** The messages of people and agents to each other (specification 1, Chat and squad). */
export function squadRoutes(
  routes: Routes,
  context: Pick<ApiContext, 'board' | 'squad' | 'feed' | 'notifications' | 'rules'>,
): void {
  const { squad, feed, notifications } = context;
  async function find(id: string): Promise<SquadRecord> {
    const message = await squad.get(id);
    assertFound(message, 'squad message', id);
    return message;
  }

  /** Asks the rules about what a caller does to a message that others read. */
  async function assertMarks(
    name: 'squad-pin' | 'squad-reaction',
    { _id: messageId, taskId }: SquadRecord,
    { actor, body }: { actor: string; body: object },
  ): Promise<void> {
    const asked = { taskId, actor, also: [name], subject: { messageId, ...body } };
    await assertAllowed(context, 'external-message', asked);
  }

  /** Notifies those who are mentioned, and the watchers. */
  async function publish(message: SquadMessage): Promise<void> {
    const { id, agent, taskId, taskTitle, mentions } = message;
    for (const { target } of mentions.filter((one) => one.target !== agent)) {
      await notifications.add({
        type: 'mention',
        targetAgent: target,
        fromAgent: agent,
        content: message.message.slice(0, 500),
        ...compact({ taskId, taskTitle }),
        dedupeKey: `squad:${id}:${target}`,
      });
    }
    await feed.append(
      { type: 'notice', notice: { type: 'squad:message', message } },
      ...mentions.map((mention) => {
        return { type: 'notice' as const, notice: { type: 'squad:mention' as const, messageId: id, agent, mention } };
      }),
    );
  }

  routes.add(
    {
      ...writes,
      path: '/chat/squad',
      operationId: 'addSquadMessage',
      summary: 'Send a squad message, notify mentioned agents and watchers',
      body: squadMessageCreate,
      response: squadMessage,
      status: 201,
      errors: [404],
    },
    async ({ body, auth }) => {
      const made = await newMessage(squad, body, { auth, now: operationTime() });
      const { actor } = auth;
      const asked = { taskId: body.taskId, actor, also: ['squad-message'], subject: body };
      await assertAllowed(context, 'external-message', asked);
      const message = await squad.add(made);
      await publish(message);
      return message;
    },
  );

  routes.add(
    {
      ...reads,
      path: '/chat/squad',
      operationId: 'listSquadMessages',
      summary: 'List the newest squad messages, oldest first; system messages with includeSystem',
      query: squadQuery,
      response: z.array(squadMessage),
    },
    ({ query }) => squad.list(query),
  );

  routes.add(
    {
      ...reads,
      path: '/chat/squad/search',
      operationId: 'searchSquadMessages',
      summary: 'Search squad messages, 5000 at a time; excerpts are redacted',
      query: squadSearchQuery,
      response: z.array(squadHit),
    },
    ({ query }) => squad.search(query),
  );

  routes.add(
    {
      ...reads,
      path: '/chat/squad/unread',
      operationId: 'countUnreadSquadMessages',
      summary: 'Count unread squad messages of a reader, by default the caller',
      query: squadActorQuery,
      response: squadUnread,
    },
    ({ query, auth }) => squad.unread(query.actor ?? auth.tokenName),
  );

  routes.add(
    {
      ...writes,
      path: '/chat/squad/read',
      operationId: 'readSquadMessages',
      summary: 'Mark squad messages as read up to a message; the mark never moves back',
      body: squadRead,
      response: squadUnread,
      errors: [404],
    },
    async ({ body, auth }) => {
      const actor = body.actor ?? auth.tokenName;
      const { at, messageId } = await squad.markRead(actor, await find(body.messageId));
      const notice = { type: 'squad:read' as const, actor, lastReadAt: at, lastReadMessageId: messageId };
      await feed.append({ type: 'notice', notice });
      return squad.unread(actor);
    },
  );

  routes.add(
    {
      ...reads,
      path: '/chat/squad/:messageId/thread',
      operationId: 'readSquadThread',
      summary: 'Read the thread of a message, oldest first',
      params: idParams,
      query: threadQuery,
      response: z.array(squadMessage),
    },
    async ({ params, query }) => {
      const { _id, threadId } = await find(params.messageId);
      return squad.thread(threadId ?? _id, query);
    },
  );

  routes.add(
    {
      ...writes,
      path: '/chat/squad/:messageId/pin',
      operationId: 'pinSquadMessage',
      summary: 'Set the pin and decision marks of a message',
      params: idParams,
      body: squadPin,
      response: squadMessage,
    },
    async ({ params: { messageId }, body, auth }) => {
      await assertMarks('squad-pin', await find(messageId), { actor: auth.actor, body });
      const marks = {
        ...(body.pinned === undefined ? {} : { pinned: body.pinned }),
        ...(body.decision === undefined ? {} : { decision: body.decision }),
      };
      const changed = await squad.pin(messageId, marks);
      assertFound(changed, 'squad message', messageId);
      const { pinned, decision } = changed;
      await feed.append({ type: 'notice', notice: { type: 'squad:pin', messageId, pinned, decision } });
      return changed;
    },
  );

  routes.add(
    {
      ...writes,
      path: '/chat/squad/:messageId/react',
      operationId: 'reactToSquadMessage',
      summary: 'Add a reaction to a message; a repeated one counts once',
      params: idParams,
      body: squadReaction,
      response: squadMessage,
      errors: [409],
    },
    async ({ params: { messageId }, body, auth }) => {
      const actor = body.actor ?? auth.tokenName;
      const reaction = plainField(body.reaction, 'reaction');
      await assertMarks('squad-reaction', await find(messageId), { actor: auth.actor, body });
      const changed = await squad.react(messageId, actor, reaction);
      if (!changed) {
        throw conflict(`A message may have at most ${maxReactions} reactions.`, { resourceId: messageId });
      }
      await feed.append({ type: 'notice', notice: { type: 'squad:reaction', messageId, actor, reaction } });
      return changed;
    },
  );
}
