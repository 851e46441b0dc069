import { z } from 'zod';
import { taskId, text, timestamp } from '../common';
import { listPage, paging } from '../query';

export const chatId = z
  .string()
  .regex(/^chat_[a-f0-9]{12}$/, 'must look like chat_0123456789ab')
  .meta({ id: 'ChatSessionId' });

const mode = z.enum(['ask', 'build']);

export const chatMessage = z
  .object({
    id: z.string(),
    /** 1, 2, 3 … within the session. */
    sequence: z.number().int().min(1),
    role: z.enum(['user', 'assistant', 'system']),
    content: z.string(),
    timestamp,
    agent: z.string().optional(),
    model: z.string().optional(),
    createdBy: z.string(),
  })
  .meta({ id: 'ChatMessage' });
export type ChatMessage = z.infer<typeof chatMessage>;

const session = {
  id: chatId,
  taskId: taskId.optional(),
  title: z.string(),
  agent: z.string().optional(),
  model: z.string().optional(),
  mode,
  created: timestamp,
  updated: timestamp,
};

export const chatSessionSummary = z.object(session).meta({ id: 'ChatSessionSummary' });
export type ChatSessionSummary = z.infer<typeof chatSessionSummary>;

/** A session with its newest messages, the oldest of them first. */
export const chatSession = z.object({ ...session, messages: z.array(chatMessage) }).meta({ id: 'ChatSession' });

/**
 * A message for a session, or for a new one where none is named. `agent`, `model` and `mode` are those of a new session, or the
 * intended recipient of a message in an older one.
 */
export const chatSend = z
  .strictObject({
    sessionId: chatId.optional(),
    taskId: taskId.optional(),
    message: text(20_000, 1),
    agent: text(100, 1).optional(),
    model: text(100, 1).optional(),
    mode: mode.optional(),
    /** For the model that responds; there is none behind this service, so it changes nothing. */
    includeContext: z.boolean().optional(),
  })
  .meta({ id: 'ChatSend' });
export type ChatSend = z.output<typeof chatSend>;

export const chatSent = z.object({ sessionId: chatId, message: chatMessage }).meta({ id: 'ChatSent' });

export const chatSessionQuery = z.strictObject({
  taskId: taskId.optional(),
  ...paging(50, 200),
});

/** The newest `limit` messages before a sequence; without one, the newest of all. */
export const chatHistoryQuery = z.strictObject({
  ...listPage(100, 500),
  before: z.coerce.number().int().min(1).optional(),
});
