import type { RequestPermissionResponse } from '@agentclientprotocol/sdk/unstable';
import {
  type AnyMessage,
  client,
  type ClientCapabilities,
  type ClientConnection,
  type RequestPermissionRequest,
} from '@agentclientprotocol/sdk/unstable';
import { JsonLimitError, parseBoundedJson } from '../../../platform/json/bounded';
import type { Line } from '../local/line-splitter';
import type { SpawnedAgent } from '../local/spawn-agent';
import { frameLimits } from '../message-limits';
import type { ClientTools } from './client/client-tools';
import { AgentEndedError } from './failure';

/** Longest message of an agent, in bytes: a tool call may carry a whole file. */
export const longestFrame = 4_194_304;

/** The agent no longer waits for a response of ours. */
const cancelRequest = '$/cancel_request';

/** Requests of the agent that may wait for a response; its output is not read while there are more. */
const maxUnanswered = 32;

/** What of the agent's output is not a message of the connection. */
export interface ConnectionEvents {
  /** A notification; a returned promise holds the agent back. */
  notified(method: string, params: unknown, bytes: number): Promise<void> | undefined;
  /** A line that is no message at all. */
  text(line: Line): Promise<void> | undefined;
  /** A message that is no response and means nothing here. */
  unknown(message: Record<string, unknown>, problem: string, bytes: number): Promise<void> | undefined;
  /** A message beyond what is read of an agent: nothing but this event and an error for who waits comes of it. */
  refused(text: string, problem: string, bytes: number): Promise<void> | undefined;
  permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  /** Files and commands that are offered to the agent. */
  tools?: { of: ClientTools; offered: ClientCapabilities };
}

export interface AcpConnection {
  readonly agent: ClientConnection['agent'];
  /** Takes a line of the agent's standard output; a returned promise resolves when the next one may come. */
  receive(line: Line): Promise<void> | undefined;
  /** Ends the connection: every request that waits for a response fails. */
  end(error?: Error): void;
}

type Message = Record<string, unknown>;

/**
 * A connection to an agent over its standard streams. Only requests and the responses to ours reach the protocol library:
 * notifications are recorded in the order they come, before the agent may continue, and nothing an agent sends makes
 * memory grow: a frame has a longest size, and an agent that asks without reading the responses is not read from.
 */
export function connectAcp(agent: SpawnedAgent, events: ConnectionEvents): AcpConnection {
  const issued = new Set<unknown>();
  let unanswered = 0;
  const waiting: (() => void)[] = [];
  let feed: ReadableStreamDefaultController<AnyMessage> | undefined;

  const readable = new ReadableStream<AnyMessage>({ start: (controller) => void (feed = controller) });
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if ('method' in message && 'id' in message) {
        issued.add(message.id);
      }
      await written(agent, JSON.stringify(message));
      if ('method' in message) {
        return;
      }
      unanswered -= 1;
      resumeAll();
    },
  });
  const app = client({ name: 'runboard' }).onRequest('session/request_permission', ({ params, signal }) =>
    events.permission(params, signal),
  );
  if (events.tools) {
    offer(app, events.tools.of, events.tools.offered);
  }
  const connection = app.connect({ readable, writable });
  // The requests that wait for a response report how it ends.
  connection.closed.catch(() => undefined);

  // No request waits for a response any more: the rest of the pipe is read to its end.
  let gone = false;
  const resumeAll = (): void => {
    for (const resume of waiting.splice(0)) {
      resume();
    }
  };
  void agent.exited
    .catch(() => undefined)
    .finally(() => {
      gone = true;
      resumeAll();
    });

  const room = (): Promise<void> | undefined =>
    unanswered < maxUnanswered || gone || connection.signal.aborted
      ? undefined
      : new Promise<void>((resolve) => waiting.push(resolve)).then(room);

  const end = (error?: Error): void => {
    connection.close(error);
    resumeAll();
  };

  /** A request or response that is not read is settled with an error instead. */
  const refuse = (line: Line, problem: string): Promise<void> | undefined => {
    const { method, id } = outline(line.content);
    const error = { code: invalidRequest, message: `The message is refused: ${problem}` };
    if (method === undefined && issued.delete(id)) {
      feed?.enqueue({ jsonrpc: '2.0', id: idOf(id), error });
    } else if (method !== undefined && id !== undefined) {
      written(agent, JSON.stringify({ jsonrpc: '2.0', id: idOf(id), error })).catch(() => undefined);
    }
    return events.refused(line.content.toString('utf8', 0, 1024), problem, line.bytes);
  };

  return {
    agent: connection.agent,
    end,
    receive(line) {
      if (connection.signal.aborted) {
        return events.text(line);
      }
      if (line.bytes - line.content.length > 2) {
        end(new Error(`The agent sent a message of ${line.bytes} bytes, more than ${longestFrame}.`));
        return events.unknown({ text: line.content.toString('utf8', 0, 1024) }, 'too long', line.bytes);
      }
      const { message, refused } = parse(line.content);
      if (refused !== undefined) {
        return refuse(line, refused);
      }
      if (!message) {
        return events.text(line);
      }
      const { method, id } = message;
      if (method === cancelRequest) {
        feed?.enqueue({ jsonrpc: '2.0', method, params: message.params });
        return undefined;
      }
      if (typeof method === 'string' && id === undefined) {
        return events.notified(method, message.params, line.bytes);
      }
      if (typeof method === 'string') {
        unanswered += 1;
        feed?.enqueue({ jsonrpc: '2.0', id: idOf(id), method, params: message.params });
        return room();
      }
      if (!issued.delete(id)) {
        return events.unknown(message, 'answers no request', line.bytes);
      }
      feed?.enqueue(message as AnyMessage);
      return undefined;
    },
  };
}

/** Handles the protocol's requests for what is offered; any other gets "method not found". */
function offer(app: ReturnType<typeof client>, tools: ClientTools, { fs, terminal }: ClientCapabilities): void {
  if (fs?.readTextFile) {
    app.onRequest('fs/read_text_file', ({ params, signal }) => tools.read(params, signal));
  }
  if (fs?.writeTextFile) {
    app.onRequest('fs/write_text_file', ({ params, signal }) => tools.write(params, signal));
  }
  if (!terminal) {
    return;
  }
  app
    .onRequest('terminal/create', ({ params, signal }) => tools.createTerminal(params, signal))
    .onRequest('terminal/output', ({ params }) => tools.output(params))
    .onRequest('terminal/wait_for_exit', ({ params, signal }) => tools.waitForExit(params, signal))
    .onRequest('terminal/kill', ({ params }) => tools.kill(params))
    .onRequest('terminal/release', ({ params }) => tools.release(params));
}

const idOf = (id: unknown): string | number | null => (typeof id === 'string' || typeof id === 'number' ? id : null);

function parse(content: Buffer): { message?: Message; refused?: string } {
  const text = content.toString('utf8').trim();
  if (!text.startsWith('{')) {
    return {};
  }
  try {
    const value = parseBoundedJson(text, frameLimits);
    return typeof value === 'object' && value !== null ? { message: value as Message } : {};
  } catch (error) {
    return error instanceof JsonLimitError ? { refused: error.message } : {};
  }
}

/** The error of a message that is no request (JSON-RPC 2.0, 5.1). */
const invalidRequest = -32_600;

/** Method and id of a message that is not parsed as a whole: parsing recurses no more than scanning does. */
function outline(content: Buffer): { method?: string; id?: unknown } {
  try {
    const { method, id } = JSON.parse(content.toString('utf8')) as Message;
    return { ...(typeof method === 'string' ? { method } : {}), ...(id === undefined ? {} : { id }) };
  } catch {
    return {};
  }
}

/** Resolves when the line has left for the agent's pipe. @throws AgentEndedError when it has closed its input */
const written = (agent: SpawnedAgent, json: string): Promise<void> =>
  new Promise((resolve, reject) => {
    agent.stdin.write(`${json}\n`, (error) => {
      if (error) {
        reject(new AgentEndedError('The agent reads no more: it ended, or closed its input.', { cause: error }));
      } else {
        resolve();
      }
    });
  });
