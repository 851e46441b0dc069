import type { AssistantModelMessage, JSONValue, ModelMessage, ToolModelMessage, UserModelMessage } from 'ai';
import { compact } from '../json/compact';
import { callsIn, type Message, type Part, type PartOf } from './message';

type UserPart = Exclude<UserModelMessage['content'], string>[number];
type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];
type ToolPart = ToolModelMessage['content'][number];

/** Messages in the terms of the SDK. Which parts a role can hold has been checked with the request. */
export function promptOf(messages: readonly Message[]): ModelMessage[] {
  // A result names its tool, which only the call knows.
  const tools = new Map(messages.flatMap(({ content }) => callsIn(content)).map(({ id, name }) => [id, name]));
  return messages.map((message): ModelMessage => {
    const { role, content } = message;
    switch (role) {
      case 'system':
      case 'developer':
        return { role: 'system', content: textOf(content) };
      case 'user':
        return { role, content: content.flatMap(userPart) };
      case 'assistant':
        return { role, content: content.flatMap(assistantPart) };
      case 'tool':
        return { role, content: toolParts(message, tools) };
    }
  });
}

const textOf = (content: readonly Part[]): string =>
  content.flatMap((part) => (part.kind === 'text' ? [part.data] : [])).join('\n\n');

function userPart(part: Part): UserPart[] {
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.data }];
    case 'image':
    case 'audio':
      return [{ type: 'file', data: part.data.data, mediaType: part.data.media_type }];
    case 'document':
      return [documentPart(part)];
    default:
      return [];
  }
}

const documentPart = ({ data: { data, media_type, file_name } }: PartOf<'document'>): UserPart => ({
  type: 'file',
  data,
  mediaType: media_type,
  ...compact({ filename: file_name }),
});

function assistantPart(part: Part): AssistantPart[] {
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.data }];
    case 'thinking': {
      const { text, signature } = part.data;
      // Only Anthropic's models recognise their thinking by a signature.
      return [
        {
          type: 'reasoning',
          text,
          ...(signature === undefined ? {} : { providerOptions: { anthropic: { signature } } }),
        },
      ];
    }
    case 'tool_call': {
      const { id, name, arguments: input } = part.data;
      return [{ type: 'tool-call', toolCallId: id, toolName: name, input: inputOf(input) }];
    }
    default:
      return [];
  }
}

/** Clients that hand on output of an OpenAI-compatible model send arguments as the text of their JSON. */
function inputOf(input: unknown): unknown {
  if (typeof input !== 'string') {
    return input;
  }
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}

function toolParts({ content, tool_call_id: id }: Message, tools: ReadonlyMap<string, string>): ToolPart[] {
  const result = (toolCallId: string, value: unknown, failed: boolean): ToolPart => ({
    type: 'tool-result',
    toolCallId,
    toolName: tools.get(toolCallId) ?? '',
    output:
      typeof value === 'string'
        ? { type: failed ? 'error-text' : 'text', value }
        : // It was read from JSON.
          { type: failed ? 'error-json' : 'json', value: value as JSONValue },
  });
  const text = textOf(content);
  const results = content.flatMap((part) =>
    part.kind === 'tool_result' ? [result(part.data.tool_call_id, part.data.content, part.data.is_error)] : [],
  );
  return id === undefined || text === '' ? results : [result(id, text, false), ...results];
}
