import type { IncomingHttpHeaders } from 'node:http';
import { listen } from '../../../platform/http/server/server';

/** Sent instead of words: the connection ends here. */
export const cut = Symbol('cut');

/** One piece of a stand-in model's answer. */
export type ReplyPart =
  | string
  | { thinking: string; signature?: string }
  | { tool: string; id: string; input: unknown }
  | { error: { type: string; message: string } }
  /** The last part: the answer is cut at its limit of tokens. */
  | { cutAtLimit: true }
  /** The connection ends. */
  | typeof cut;

export interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into requests of both protocols
  /** Whether the caller has gone before the answer's end. */
  left: boolean;
}

export type Reply = Refusal | AsyncIterable<ReplyPart> | Iterable<ReplyPart>;

interface Refusal {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** What both protocols report as used. */
export const used = { input: 1_000, cached: 400, output: 50 };

/** Writes an answer as the events of one protocol. */
interface Protocol {
  begin(): unknown[];
  encode(part: Exclude<ReplyPart, typeof cut>): unknown[];
  end(): unknown[];
}

function openAi(): Protocol {
  let finish = 'stop';
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
  return {
    begin: () => [chunk({ role: 'assistant', content: '' })],
    encode(part) {
      if (typeof part === 'string') {
        return [chunk({ content: part })];
      }
      if ('error' in part) {
        return [part];
      }
      if ('thinking' in part) {
        return [chunk({ reasoning_content: part.thinking })];
      }
      if ('cutAtLimit' in part) {
        finish = 'length';
        return [];
      }
      finish = 'tool_calls';
      const call = { index: 0, id: part.id, type: 'function' };
      return [
        chunk({ tool_calls: [{ ...call, function: { name: part.tool, arguments: JSON.stringify(part.input) } }] }),
      ];
    },
    end: () => [
      chunk({}, finish),
      {
        ...chunk({}),
        choices: [],
        usage: {
          prompt_tokens: used.input,
          completion_tokens: used.output,
          total_tokens: used.input + used.output,
          prompt_tokens_details: { cached_tokens: used.cached },
        },
      },
      '[DONE]',
    ],
  };
}

function anthropic(): Protocol {
  let index = -1;
  let stop = 'end_turn';
  const block = (content_block: unknown, ...deltas: unknown[]) => {
    index += 1;
    return [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  };
  return {
    begin: () => [
      {
        type: 'message_start',
        message: {
          id: 'm1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: used.input - used.cached, cache_read_input_tokens: used.cached, output_tokens: 1 },
        },
      },
    ],
    encode(part) {
      if (typeof part === 'string') {
        return block({ type: 'text', text: '' }, { type: 'text_delta', text: part });
      }
      if ('error' in part) {
        return [{ type: 'error', ...part }];
      }
      if ('thinking' in part) {
        return block(
          { type: 'thinking', thinking: '' },
          { type: 'thinking_delta', thinking: part.thinking },
          { type: 'signature_delta', signature: part.signature ?? 'signed' },
        );
      }
      if ('cutAtLimit' in part) {
        stop = 'max_tokens';
        return [];
      }
      stop = 'tool_use';
      return block(
        { type: 'tool_use', id: part.id, name: part.tool, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(part.input) },
      );
    },
    end: () => [
      {
        type: 'message_delta',
        delta: { stop_reason: stop, stop_sequence: null },
        usage: { output_tokens: used.output },
      },
      { type: 'message_stop' },
    ],
  };
}

const isRefusal = (reply: Reply): reply is Refusal => 'status' in reply;

/** A provider of models on this machine that speaks both protocols, as streams, and sends what a test configures. */
export async function aProvider() {
  const asked: Asked[] = [];
  let reply: (asked: Asked) => Reply = () => ['Hello', ' there'];
  const server = await listen(
    async (request, response) => {
      let text = '';
      for await (const chunk of request) {
        text += String(chunk);
      }
      const { url: path = '', headers } = request;
      const entry: Asked = { path, headers, body: JSON.parse(text), left: false };
      asked.push(entry);
      response.once('close', () => (entry.left = !response.writableFinished));
      const answer = reply(entry);
      if (isRefusal(answer)) {
        const type = { 'content-type': 'application/json' };
        response.writeHead(answer.status, { ...type, ...answer.headers }).end(JSON.stringify(answer.body));
        return;
      }
      const named = path.endsWith('/messages');
      const protocol = named ? anthropic() : openAi();
      const write = (events: unknown[]) => {
        if (!response.headersSent) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
        }
        for (const data of events) {
          const name = named ? `event: ${(data as { type: string }).type}\n` : '';
          response.write(`${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
        }
      };
      let begun = false;
      for await (const part of answer) {
        if (part === cut) {
          return void response.destroy();
        }
        if (!begun) {
          write(protocol.begin());
        }
        begun = true;
        write(protocol.encode(part));
        if (typeof part === 'object' && 'error' in part) {
          return void response.end();
        }
      }
      if (!begun) {
        write(protocol.begin());
      }
      write(protocol.end());
      response.end();
    },
    { host: '127.0.0.1', port: 0 },
  );
  return {
    url: `${server.url}/v1`,
    asked,
    /** What was asked last. */
    last: (): Asked => asked.at(-1)!,
    /** From now on this is sent. */
    answers(next: (asked: Asked) => Reply): void {
      reply = next;
    },
    close: () => server.close(0),
  };
}
export type Provider = Awaited<ReturnType<typeof aProvider>>;

/** Something that is waited for until a test opens it. */
export function aGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
