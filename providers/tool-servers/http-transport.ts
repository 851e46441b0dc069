import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createFilteredStream, ForbiddenAddressError } from '../../platform/http/filtered-fetch';
import { parseBoundedJson } from '../../platform/json/bounded';
import { within } from '../../platform/operations/within';
import { messageShape, serverLimits } from './limits';
import { longMessage, type OutputBudget, type OutputProblem, refusedMessage } from './output-budget';
import { ToolServerError } from './tool-server';

interface Remote {
  displayName: string;
  url: string;
  headers: Record<string, string>;
  allowPrivate: boolean;
  /** The longest that a response may take. */
  timeoutMs: number;
}

/** How long a server may take to end a session, in milliseconds. */
const goodbyeMs = 1_000;

/**
 * The transport of the library with requests that go to one origin only, to addresses that are allowed, and with bounded
 * responses. Redirects are not followed. The server is not listened to beside the responses to requests.
 */
export function httpTransport(remote: Remote, budget: OutputBudget): Transport {
  const { displayName, headers, allowPrivate, timeoutMs } = remote;
  const url = new URL(remote.url);
  const send = createFilteredStream({
    origin: url.origin,
    allowPrivate,
    timeoutMs,
    maxBytes: serverLimits.outputBytes,
  });

  const fetchFromServer = async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    const sent = Object.fromEntries(new Headers(init.headers));
    if (init.method === 'GET' && sent['last-event-id'] === undefined) {
      return new Response(null, { status: 405 });
    }
    try {
      const body = typeof init.body === 'string' ? { body: init.body } : {};
      const signal = init.signal ? { signal: init.signal } : {};
      const response = await send(address, { method: init.method, headers: sent, ...body, ...signal });
      const isRedirect = response.status >= 300 && response.status < 400;
      return isRedirect ? new Response('it redirects elsewhere, which is not followed', { status: 421 }) : response;
    } catch (error) {
      throw problemOf(displayName, error);
    }
  };

  const transport = new StreamableHTTPClientTransport(url, {
    fetch: fetchFromServer,
    requestInit: { headers, redirect: 'manual' },
    reconnectionOptions: {
      maxRetries: 2,
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
    },
  });
  return new BoundedTransport(transport, budget);
}

/** A transport whose messages are measured before anything walks over them; closing it ends the session at the server. */
class BoundedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(
    private readonly inner: StreamableHTTPClientTransport,
    private readonly budget: OutputBudget,
  ) {
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message) => this.receive(message);
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.inner.send(message);
  }

  async close(): Promise<void> {
    await within(goodbyeMs, 'late', this.inner.terminateSession()).catch(() => undefined);
    await this.inner.close();
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  private receive(message: JSONRPCMessage): void {
    const problem = this.problemOf(message);
    if (problem === undefined) {
      this.onmessage?.(message);
    } else {
      this.budget.fail(problem);
      void this.inner.close();
    }
  }

  private problemOf(message: JSONRPCMessage): OutputProblem | undefined {
    try {
      const json = JSON.stringify(message);
      const bytes = Buffer.byteLength(json);
      if (bytes > serverLimits.messageBytes) {
        return longMessage;
      }
      parseBoundedJson(json, messageShape);
      return this.budget.spend(bytes);
    } catch (error) {
      return refusedMessage(error);
    }
  }
}

function problemOf(displayName: string, error: unknown): ToolServerError {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof ForbiddenAddressError) {
    return new ToolServerError({
      code: 'refused-address',
      message: `The tool server ${displayName} is at an address that is not called: ${reason}`,
      remedy: 'Name a public address with TLS, or start workers with BOARD_TOOL_SERVER_ALLOW_PRIVATE=true.',
    });
  }
  return new ToolServerError({
    code: 'unavailable',
    message: `The tool server ${displayName} was not reached: ${reason}`,
    remedy: 'Verify its address, and that it runs.',
  });
}
