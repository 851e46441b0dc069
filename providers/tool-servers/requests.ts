import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { ToolServerErrorCode } from '../../contracts/integrations/tool-server';
import { within } from '../../platform/operations/within';
import { cut } from '../../platform/text/cut';
import type { OutputBudget } from './output-budget';
import { ToolServerError } from './tool-server';

/** What requests of one connection need to know of it. */
export interface Requesting {
  displayName: string;
  client: Client;
  budget: OutputBudget;
  /** Removes the credentials of the server from a text. */
  redact: (text: string) => string;
  /** How it ended, and what it wrote last; empty where that is unknown. */
  lastWords: () => string;
}

interface Request<T> {
  method: string;
  params: Record<string, unknown>;
  result: z.ZodType<T>;
  signal: AbortSignal;
  timeoutMs: number;
}

/** A response in time may still be on its way through the library: after so many milliseconds more it is given up. */
const graceMs = 1_000;

/** @throws ToolServerError for whatever the server does instead of a response of that form in time */
export async function request<T>(requesting: Requesting, sent: Request<T>): Promise<T> {
  const { method, params, result, signal, timeoutMs } = sent;
  requesting.budget.renew();
  try {
    return await within(
      timeoutMs + graceMs,
      new McpError(ErrorCode.RequestTimeout, 'late'),
      requesting.client.request({ method, params }, anything, {
        // The library leaves its listener on the signal.
        signal: AbortSignal.any([signal]),
        timeout: timeoutMs,
        maxTotalTimeout: timeoutMs,
      }),
    ).then((response) => result.parse(response));
  } catch (error) {
    throw toError(requesting, sent, error);
  }
}

/** The library checks nothing of a response: {@link request} does. */
const anything = z.looseObject({});

/** Sentences of what went wrong with a request, for a person. */
export function toError(
  requesting: Requesting,
  { method, signal, timeoutMs }: Pick<Request<unknown>, 'method' | 'signal' | 'timeoutMs'>,
  error: unknown,
): ToolServerError {
  if (error instanceof ToolServerError) {
    return error;
  }
  const about = (code: ToolServerErrorCode, what: string, remedy: string) => {
    const sentence = cut(`The tool server ${requesting.displayName}: ${what}.`, 10_000);
    const message = cut(requesting.redact(sentence), 1_000);
    return new ToolServerError({ code, message, remedy });
  };
  if (signal.aborted) {
    return about('aborted', 'the request was abandoned', 'Repeat the request.');
  }
  const { problem } = requesting.budget;
  if (problem) {
    return about(problem.code, problem.what, 'Correct the server, or disable its definition.');
  }
  if (error instanceof McpError && error.code === (ErrorCode.RequestTimeout as number)) {
    const what = `it did not respond to ${method} within ${timeoutMs} ms${wordsOf(requesting)}`;
    const remedy = 'Read what the server prints, or raise startupTimeoutMs or toolTimeoutMs of its definition.';
    return about(method === 'initialize' ? 'start-timeout' : 'timeout', what, remedy);
  }
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    const what = `its response to ${method} is not that of the protocol: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
    return about('protocol-error', what, 'Correct the server, or use a version of it that speaks the protocol.');
  }
  if (error instanceof McpError && error.code !== (ErrorCode.ConnectionClosed as number)) {
    return about('refused', `it refused ${method}: ${error.message}`, 'Read the message, and correct the request.');
  }
  if (error instanceof StreamableHTTPError) {
    const what = `it responded to ${method} with the status ${error.code ?? 'unknown'}: ${error.message}`;
    return about('unavailable', what, 'Verify its address and the credentials of its headers.');
  }
  const reason = error instanceof Error ? error.message : String(error);
  const what = `it ended, or closed its output, before it responded to ${method}${wordsOf(requesting) || ` (${reason})`}`;
  return about('ended', what, 'Start its command on the host as the user of its agents, and read what it prints.');
}

const wordsOf = ({ lastWords }: Requesting): string => {
  const words = lastWords();
  return words === '' ? '' : `; its last words: ${words}`;
};
