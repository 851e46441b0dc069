import type { Mention, SquadMessageCreate } from '../../../contracts/chat/squad';
import { assertFound, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import type { NewSquadMessage, SquadStore } from '../../../stores/chat/squad-store';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { mentionsIn } from '../notifications/mentions';

/** The mentions a caller states, then those in the text, each target of a kind once. */
function allMentions(stated: readonly Mention[], text: string): Mention[] {
  const targets = new Set(stated.map(({ target }) => target));
  const all = [...stated, ...mentionsIn(text).filter(({ target }) => !targets.has(target))];
  const unique = new Map(all.map((one) => [`${one.kind}:${one.target}`, one]));
  return [...unique.values()].slice(0, 50);
}

/**
 * The thread of a reply: named by its first message.
 *
 * @throws AppError 400 for a reply in another thread than that of its message, 404 for an unknown message
 */
async function threadOf(
  squad: Pick<SquadStore, 'get'>,
  { replyToId, threadId }: Pick<SquadMessageCreate, 'replyToId' | 'threadId'>,
): Promise<string | undefined> {
  const answered = replyToId ?? threadId;
  if (answered === undefined) {
    return undefined;
  }
  const parent = await squad.get(answered);
  assertFound(parent, 'squad message', answered);
  const root = parent.threadId ?? parent._id;
  if (threadId !== undefined && threadId !== root) {
    throw validationError([
      { path: 'threadId', message: `is not the thread of the message, which is ${root}`, code: 'custom' },
    ]);
  }
  return root;
}

/** The message to store for a caller's request. @throws AppError 400 or 404, as {@link threadOf} */
export async function newMessage(
  squad: Pick<SquadStore, 'get'>,
  body: SquadMessageCreate,
  { auth, now }: { auth: Pick<AuthContext, 'actor' | 'tokenName'>; now: Date },
): Promise<NewSquadMessage> {
  const { displayName, taskTitle } = body;
  const message = plainField(body.message, 'message');
  return compact({
    ...body,
    _id: newItemId('msg'),
    agent: plainField(body.agent ?? auth.tokenName, 'agent'),
    displayName: displayName === undefined ? undefined : plainField(displayName, 'displayName'),
    taskTitle: taskTitle === undefined ? undefined : plainField(taskTitle, 'taskTitle'),
    message,
    tags: body.tags.map((each, index) => plainField(each, `tags.${index}`)),
    links: body.links.map((link) => compact(link)),
    mentions: allMentions(body.mentions, message),
    threadId: await threadOf(squad, body),
    reactions: [],
    timestamp: now.toISOString(),
    createdBy: auth.actor,
  });
}
