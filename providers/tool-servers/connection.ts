import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import type { ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { within } from '../../platform/operations/within';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';
import { callResponse, toCallResult } from './call-result';
import { listAllTools } from './discovered-tools';
import type { OutputBudget } from './output-budget';
import { request, type Requesting, toError } from './requests';
import { type ToolServerConnection, ToolServerError } from './tool-server';

export interface Opening {
  definition: ToolServerDefinition;
  transport: Transport;
  budget: OutputBudget;
  redact: (text: string) => string;
  lastWords: () => string;
}

/** Failures after which a server is started again, or the session with it. */
const fatal = ['ended', 'output-limit', 'unavailable', 'refused-address', 'protocol-error'];

/** The library compiles the schemas of results that a server declares; these are checked elsewhere, or not used. */
const noValidator = { getValidator: () => (input: unknown) => ({ valid: true, data: input, errorMessage: undefined }) };

/**
 * Shakes hands with a server. The server is offered nothing: it cannot ask for samples of a model, input of a person or roots.
 *
 * @throws ToolServerError, and nothing of the server is left then
 */
export async function connect(opening: Opening): Promise<ToolServerConnection> {
  const { definition, transport, budget, redact, lastWords } = opening;
  const { displayName, startupTimeoutMs } = definition;
  const client = new Client(
    { name: 'runboard', version: '1' },
    { capabilities: {}, jsonSchemaValidator: noValidator as never },
  );
  const ended = new AbortController();
  client.onclose = () => ended.abort();
  // Each request reports its own failure.
  client.onerror = () => undefined;
  const requesting: Requesting = { displayName, client, budget, redact, lastWords };

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ended.abort();
    closing ??= transport.close();
    return closing;
  };
  const signal = new AbortController().signal;
  try {
    const options = { timeout: startupTimeoutMs, maxTotalTimeout: startupTimeoutMs };
    await within(startupTimeoutMs + 1_000, 'late', client.connect(transport, options));
  } catch (error) {
    const cause = toError(requesting, { method: 'initialize', signal, timeoutMs: startupTimeoutMs }, error);
    await close();
    throw cause;
  }

  /** Does a request, and ends what cannot be used any more. */
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ToolServerError && fatal.includes(error.code)) {
        await close();
      }
      throw error;
    }
  };
  const introduced = implementation.safeParse(client.getServerVersion()).data;
  const shown = (text: string | undefined): string => cut(printable(redact(text ?? '')), 200);

  return {
    server: { name: shown(introduced?.name), version: shown(introduced?.version) },
    ended: ended.signal,
    listTools: (aborting) =>
      guarded(() => listAllTools(requesting, { definition, signal: aborting, timeoutMs: startupTimeoutMs })),
    callTool: ({ name, arguments: given, signal: aborting, timeoutMs }) =>
      guarded(async () => {
        assertOpen(ended.signal, displayName);
        try {
          const response = await request(requesting, {
            method: 'tools/call',
            params: { name, arguments: given },
            result: callResponse,
            signal: aborting,
            timeoutMs,
          });
          return toCallResult(response, redact);
        } catch (error) {
          if (error instanceof ToolServerError) {
            error.isSent = error.code !== 'refused-address';
          }
          throw error;
        }
      }),
    close,
  };
}

function assertOpen(ended: AbortSignal, displayName: string): void {
  if (ended.aborted) {
    throw new ToolServerError({
      code: 'ended',
      message: `The tool server ${displayName} has ended.`,
      remedy: 'Repeat the request: the server is started again.',
    });
  }
}

const implementation = z.object({ name: z.string(), version: z.string() });
