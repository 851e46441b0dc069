import { edit, mentions, modelKey, type ModelResponse, type WireFormat } from './server';

const call = /^POST \/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/;

/** The Gemini API, for an agent whose tool `write_file` writes a file. */
export const geminiApi: WireFormat = {
  respond({ call: called, headers, body }): ModelResponse | undefined {
    const [, model, method] = call.exec(called) ?? [];
    if (model === undefined) {
      return undefined;
    }
    if (headers['x-goog-api-key'] !== modelKey) {
      const message = 'API key not valid. Please pass a valid API key.';
      return { status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } };
    }
    if (method === 'countTokens') {
      return { status: 200, body: { totalTokens: 10 } };
    }
    const writes = mentions(body.tools, 'name', 'write_file') && !mentions(body.contents, 'functionResponse');
    const part = writes
      ? { functionCall: { name: 'write_file', args: { file_path: edit.path, content: edit.content } } }
      : { text: edit.summary };
    const response = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: model,
    };
    return method === 'generateContent'
      ? { status: 200, body: response }
      : { status: 200, events: [{ data: response }] };
  },
};
