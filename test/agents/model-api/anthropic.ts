import { edit, mentions, modelKey, type ModelRequest, type ModelResponse, type WireFormat } from './server';

/** Anthropic's Messages API, for an agent whose tool `tool` writes a file; `path` is the name of its argument. */
export const anthropicApi = ({ tool, path }: { tool: string; path: string }): WireFormat => ({
  respond(request): ModelResponse | undefined {
    if (request.call !== 'POST /v1/messages') {
      return undefined;
    }
    if (request.headers['x-api-key'] !== modelKey) {
      const error = { type: 'authentication_error', message: 'invalid x-api-key' };
      return { status: 401, body: { type: 'error', error } };
    }
    const { body } = request;
    const writes = mentions(body.tools, 'name', tool) && !mentions(body.messages, 'type', 'tool_result');
    const content: Content = writes
      ? { type: 'tool_use', id: 'toolu_1', name: tool, input: { [path]: edit.path, content: edit.content } }
      : { type: 'text', text: edit.summary };
    return body.stream === true
      ? { status: 200, events: streamed(request, content) }
      : { status: 200, body: { ...message(request), content: [content], stop_reason: stopReason(content) } };
  },
});

type Content =
  { type: 'tool_use'; id: string; name: string; input: Record<string, string> } | { type: 'text'; text: string };

const stopReason = ({ type }: Content): string => (type === 'tool_use' ? 'tool_use' : 'end_turn');

const message = ({ body }: ModelRequest) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: body.model,
  content: [] as Content[],
  stop_reason: null as string | null,
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});

function streamed(request: ModelRequest, content: Content): { event: string; data: { type: string } }[] {
  const [start, delta] =
    content.type === 'text'
      ? [
          { ...content, text: '' },
          { type: 'text_delta', text: content.text },
        ]
      : [
          { ...content, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(content.input) },
        ];
  const events = [
    { type: 'message_start', message: message(request) },
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason(content), stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ];
  return events.map((data) => ({ event: data.type, data }));
}
