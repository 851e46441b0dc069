import { edit, mentions, modelKey, type ModelRequest, type ModelResponse, type WireFormat } from './server';

/** OpenAI's Responses API, for an agent whose tool `exec` runs a script that may patch files. */
export const responsesApi: WireFormat = {
  respond(request): ModelResponse | undefined {
    const { call, headers, body } = request;
    if (call === 'GET /v1/responses') {
      // Without WebSockets the agent goes on over plain HTTP.
      return { status: 426, body: {} };
    }
    if (call !== 'POST /v1/responses') {
      return undefined;
    }
    if (headers.authorization !== `Bearer ${modelKey}`) {
      const error = { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' };
      return { status: 401, body: { error } };
    }
    return { status: 200, events: streamed(itemFor(body)) };
  },
};

/** A patch of the agent's own kind. */
const patch = [
  '*** Begin Patch',
  `*** Add File: ${edit.path}`,
  ...edit.content
    .trim()
    .split('\n')
    .map((line) => `+${line}`),
  '*** End Patch',
].join('\n');

function itemFor({ input }: ModelRequest['body']): Record<string, unknown> {
  const writes = mentions(input, 'name', 'exec') && !mentions(input, 'type', 'custom_tool_call_output');
  if (!writes) {
    const content = [{ type: 'output_text', text: edit.summary, annotations: [] }];
    return { type: 'message', id: 'item_1', role: 'assistant', status: 'completed', content };
  }
  const script = `text(await tools.apply_patch(${JSON.stringify(patch)}));`;
  return {
    type: 'custom_tool_call',
    id: 'item_1',
    call_id: 'call_1',
    name: 'exec',
    input: script,
    status: 'completed',
  };
}

function streamed(item: Record<string, unknown>): { event: string; data: { type: string } }[] {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const events = [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [item], usage } },
  ];
  return events.map((data) => ({ event: data.type, data }));
}
