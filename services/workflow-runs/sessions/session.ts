import { z } from 'zod';
import { compact } from '../../../platform/json/compact';
import { modelName } from '../../../platform/models/model';
import { stopReason } from '../../../platform/models/request';
import type { ToolOffer } from '../graph/graph';
import { maxOffers, offerOf, toolTurns } from '../graph/kinds/prompt-tools';
import { toolUse } from '../runs/http/contracts';
import { runId } from '../runs/run';

/** Longest message of a user, in characters. */
const longestContent = 100_000;
/** Messages of users in one session. */
export const maxMessages = 1_000;

const content = z
  .string()
  .max(longestContent)
  .refine((value) => value.trim() !== '', 'must not be blank');

export const sessionId = z.uuid();

const toolNames = z
  .array(
    z
      .string()
      .refine(
        (name) => offerOf(name),
        'must be a tool server, such as search, or one of its tools, such as ledger/append',
      ),
  )
  .min(1)
  .max(maxOffers);
const maxTurns = z.number().int().min(1).max(toolTurns.most);

export const newSession = z
  .strictObject({
    content,
    /** An id or alias; the default model without it. */
    model: modelName.optional(),
    /** Instructions that stand before the conversation. */
    system: z.string().max(longestContent).optional(),
    /** What its model may call: tool servers of the board, and tools of them. */
    tools: toolNames.optional(),
    /** The tools are those of the catalog of this run. */
    run: runId.optional(),
    /** How often the model is asked for one message. */
    max_turns: maxTurns.optional(),
  })
  .superRefine((body, context) => {
    (['run', 'max_turns'] as const)
      .filter((name) => body[name] !== undefined && body.tools === undefined)
      .forEach((name) => context.addIssue({ code: 'custom', path: [name], message: 'needs tools' }));
  });
export type NewSession = z.infer<typeof newSession>;
export const newMessage = z.strictObject({ content });
export const accepted = z.object({ accepted: z.literal(true) });

export const session = z
  .object({
    id: sessionId,
    title: z.string(),
    model: z.object({ id: z.string() }),
    tools: z.array(z.string()).optional(),
    run: runId.optional(),
    max_turns: z.number().int().optional(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof session>;

export const listedSession = session.extend({ last_message_preview: z.string() }).meta({ id: 'ListedSession' });

/** Why an answer ended before its model was done; absent otherwise. */
const cutReason = stopReason.exclude(['end_turn']);
export type CutReason = z.infer<typeof cutReason>;

const turn = z.union([
  z.object({
    kind: z.enum(['user', 'assistant']),
    content: z.string(),
    created_at: z.iso.datetime(),
    stop_reason: cutReason
      .optional()
      .meta({ description: 'Why the answer ended early: max_tokens at its limit of tokens' }),
  }),
  z.object({ kind: z.literal('tool'), tools: z.array(toolUse), created_at: z.iso.datetime() }),
]);
export type SessionTurn = z.infer<typeof turn>;

export const sessionWithTurns = session.extend({ turns: z.array(turn) }).meta({ id: 'SessionWithTurns' });

/** What the model of a session may call. */
export interface SessionTools {
  /** As its caller named them. */
  names: string[];
  offers: ToolOffer[];
  /** Whose catalog at the board they are in: that of a run, or of the session. */
  owner: string;
  /** All servers of the catalog. */
  servers: string[];
  run?: string;
  maxTurns: number;
}

/** A session as it is stored; its turns are those of its exchanges. */
export interface SessionRecord {
  _id: string;
  title: string;
  model: string;
  system?: string;
  /** Absent where its model may call none. */
  tools?: SessionTools;
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
  opens?: Pick<SessionRecord, 'title' | 'model' | 'system' | 'tools' | 'created_by'>;
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
  /** Its rounds (`tools/rounds.ts`) as JSON: names of arguments are the model's. Absent without any. */
  rounds?: string;
  /** How often they were changed. */
  revision?: number;
}

export const presentSession = ({ _id, title, model, tools, created_at, updated_at }: SessionRecord): Session => ({
  id: _id,
  title,
  model: { id: model },
  ...(tools && { tools: tools.names, max_turns: tools.maxTurns, ...compact({ run: tools.run }) }),
  created_at,
  updated_at,
});
