import { z } from 'zod';
import { modelName } from '../../../platform/models/model';
import { stopReason } from '../../../platform/models/request';

/** Longest message of a user, in characters. */
const longestContent = 100_000;
/** Messages of users in one session. */
export const maxMessages = 1_000;

const content = z
  .string()
  .max(longestContent)
  .refine((value) => value.trim() !== '', 'must not be blank');

export const sessionId = z.uuid();

export const newSession = z.strictObject({
  content,
  /** An id or alias; the default model without it. */
  model: modelName.optional(),
  /** Instructions that stand before the conversation. */
  system: z.string().max(longestContent).optional(),
});
export const newMessage = z.strictObject({ content });
export const accepted = z.object({ accepted: z.literal(true) });

export const session = z
  .object({
    id: sessionId,
    title: z.string(),
    model: z.object({ id: z.string() }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof session>;

export const listedSession = session.extend({ last_message_preview: z.string() }).meta({ id: 'ListedSession' });

/** Why an answer ended before its model was done; absent otherwise. */
const cutReason = stopReason.exclude(['end_turn']);
export type CutReason = z.infer<typeof cutReason>;

const turn = z.object({
  kind: z.enum(['user', 'assistant']),
  content: z.string(),
  created_at: z.iso.datetime(),
  stop_reason: cutReason
    .optional()
    .meta({ description: 'Why the answer ended early: max_tokens at its limit of tokens' }),
});
export type SessionTurn = z.infer<typeof turn>;

export const sessionWithTurns = session.extend({ turns: z.array(turn) }).meta({ id: 'SessionWithTurns' });

/** A session as it is stored; its turns are those of its exchanges. */
export interface SessionRecord {
  _id: string;
  title: string;
  model: string;
  system?: string;
  last_message_preview: string;
  created_by: string;
  created_at: string;
  updated_at: string;
}

/** A message that has come in and is in no session yet. Its caller does not know yet that it is accepted. */
export interface Draft {
  /** Of the message. */
  _id: string;
  session: string;
  content: string;
  created_at: string;
  /** Of a session that begins with this message. */
  opens?: Pick<SessionRecord, 'title' | 'model' | 'system' | 'created_by'>;
}

/**
 * A message and the answer to it: two turns that belong together, so that an answer follows its message whenever it
 * comes.
 */
export interface Exchange {
  /** Of its message. */
  _id: string;
  session: string;
  /** 1, 2, 3 … within the session. */
  number: number;
  content: string;
  created_at: string;
  /** `superseded`: another message came before the answer was there. */
  state: 'generating' | 'answered' | 'superseded' | 'failed';
  answer?: { content: string; created_at: string; stop_reason?: CutReason };
}

export const presentSession = ({ _id, title, model, created_at, updated_at }: SessionRecord): Session => ({
  id: _id,
  title,
  model: { id: model },
  created_at,
  updated_at,
});

export const turnsOf = ({ content: asked, created_at, answer }: Exchange): SessionTurn[] => [
  { kind: 'user', content: asked, created_at },
  ...(answer ? [{ kind: 'assistant' as const, ...answer }] : []),
];
