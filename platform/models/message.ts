import { z } from 'zod';

const maxText = 1_000_000;
const maxParts = 256;
export const maxMessages = 1_000;

/** Content that lies in the request itself: nothing is fetched on behalf of a caller. */
const embedded = {
  data: z.base64('must be base64').min(1),
  media_type: z.string().regex(/^[a-z]+\/[a-z0-9.+-]{1,100}$/, 'must be a media type'),
};
const name = z.string().min(1).max(128);

export const textPart = z.strictObject({ kind: z.literal('text'), data: z.string().max(maxText) });
const imagePart = z.strictObject({
  kind: z.literal('image'),
  data: z.strictObject({ ...embedded, media_type: embedded.media_type.startsWith('image/').default('image/png') }),
});
const audioPart = z.strictObject({
  kind: z.literal('audio'),
  data: z.strictObject({ ...embedded, media_type: embedded.media_type.startsWith('audio/').default('audio/wav') }),
});
const documentPart = z.strictObject({
  kind: z.literal('document'),
  data: z.strictObject({
    ...embedded,
    media_type: embedded.media_type.default('application/pdf'),
    file_name: z.string().min(1).max(255).optional(),
  }),
});
export const toolCall = z.strictObject({ id: name, name, arguments: z.unknown() });
export type ToolCall = z.infer<typeof toolCall>;
export const toolCallPart = z.strictObject({ kind: z.literal('tool_call'), data: toolCall });
const toolResultPart = z.strictObject({
  kind: z.literal('tool_result'),
  data: z.strictObject({ tool_call_id: name, content: z.unknown(), is_error: z.boolean().default(false) }),
});
const thinking = z.strictObject({
  text: z.string().max(maxText),
  /** What its provider recognises it by. */
  signature: z.string().max(100_000).optional(),
});
export type Thinking = z.infer<typeof thinking>;
export const thinkingPart = z.strictObject({ kind: z.literal('thinking'), data: thinking });

const part = z.discriminatedUnion('kind', [
  textPart,
  imagePart,
  audioPart,
  documentPart,
  toolCallPart,
  toolResultPart,
  thinkingPart,
]);
export type Part = z.infer<typeof part>;
export type PartOf<K extends Part['kind']> = Extract<Part, { kind: K }>;

/** The kinds of content that each role may send. */
const partsOfRole = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image', 'audio', 'document'],
  assistant: ['text', 'thinking', 'tool_call'],
  tool: ['text', 'tool_result'],
} as const satisfies Record<string, readonly Part['kind'][]>;

export const message = z
  .strictObject({
    role: z.enum(['system', 'user', 'assistant', 'tool', 'developer']),
    content: z.array(part).min(1).max(maxParts),
    name: name.optional(),
    /** Of a tool's message whose content is the text of its result. */
    tool_call_id: name.optional(),
  })
  .superRefine(({ role, content, tool_call_id }, context) => {
    content.forEach(({ kind }, index) => {
      const allowed: readonly string[] = partsOfRole[role];
      if (!allowed.includes(kind)) {
        context.addIssue({
          code: 'custom',
          path: ['content', index, 'kind'],
          message: `a ${role} message cannot contain ${kind}`,
        });
      } else if (role === 'tool' && kind === 'text' && tool_call_id === undefined) {
        context.addIssue({ code: 'custom', path: ['tool_call_id'], message: 'is needed beside a text' });
      }
    });
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof message>;

export const messages = z
  .array(message)
  .min(1)
  .max(maxMessages)
  .superRefine((list, context) => {
    if (!list.some(({ role }) => role === 'user' || role === 'assistant' || role === 'tool')) {
      context.addIssue({ code: 'custom', message: 'must contain more than instructions' });
    }
    const called = new Set(list.flatMap(({ content }) => callsIn(content)).map(({ id }) => id));
    list.forEach(({ role, content, tool_call_id }, index) => {
      if (role !== 'tool') {
        return;
      }
      const answered = [tool_call_id, ...resultsIn(content)].filter((id) => id !== undefined);
      for (const id of answered) {
        if (!called.has(id)) {
          context.addIssue({
            code: 'custom',
            path: [index],
            message: `responds to the tool call ${id}, which does not exist`,
          });
        }
      }
    });
  });

export const callsIn = (content: readonly Part[]): ToolCall[] =>
  content.flatMap((each) => (each.kind === 'tool_call' ? [each.data] : []));
const resultsIn = (content: readonly Part[]): string[] =>
  content.flatMap((each) => (each.kind === 'tool_result' ? [each.data.tool_call_id] : []));
