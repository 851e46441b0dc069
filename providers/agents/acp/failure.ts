import { type InitializeResponse, RequestError } from '@agentclientprotocol/sdk/unstable';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { type AuthMethodOffer, loginRemedy } from '../../../domain/agents/login-remedy';
import { errorMessage } from '../../../platform/errors/app-error';
import { parseBoundedJson } from '../../../platform/json/bounded';
import { cut } from '../../../platform/text/cut';
import { frameLimits } from '../message-limits';

/** What went wrong between us and an agent of the protocol, for programs. */
export type AcpFailureCode =
  | 'handshake-timeout'
  | 'protocol-version'
  | 'authentication-required'
  | 'authentication-failed'
  | 'model-not-offered'
  | 'mode-not-offered'
  | 'option-refused'
  | 'tool-servers-refused';

/** A failure with its cause and what a person can do about it. The message is both, in one line. */
export class AcpFailure extends Error {
  override readonly name = 'AcpFailure';

  constructor(
    readonly code: AcpFailureCode,
    /** Without a full stop. */
    readonly reason: string,
    readonly remedy: string,
  ) {
    super(`${reason}: ${remedy}`);
  }
}

/** The agent is gone, or reads no more, while something is expected of it: what it wrote last is the reason. */
export class AgentEndedError extends Error {
  override readonly name = 'AgentEndedError';
}

/** JSON-RPC error of the protocol: the agent wants to be authenticated. */
const authRequired = -32_000;

/** What the cause states already. */
const opening = /^authentication required[.:]?\s*/i;

/**
 * What an agent reported of an error, without a full stop: its message with the details that the protocol's library puts beside it,
 * or the message within the JSON that it passes on from the API of its model.
 */
export function agentMessage(error: unknown): string {
  const message = messageWithin(errorMessage(error));
  const { details } = error instanceof RequestError && isRecord(error.data) ? error.data : {};
  const text = typeof details === 'string' && details !== '' ? `${message}: ${details}` : message;
  return cut(text, 1_000).replace(/\.$/, '');
}

/** The message of an error document `{"error": {"message": …}}`; any other text as it is. */
function messageWithin(text: string): string {
  if (!text.startsWith('{')) {
    return text;
  }
  try {
    const { error } = parseBoundedJson(text, frameLimits) as { error?: unknown };
    return isRecord(error) && typeof error.message === 'string' && error.message !== '' ? error.message : text;
  } catch {
    return text;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The error as a failure when the agent refuses for want of authentication; the error itself otherwise. */
export function refusedLogin(
  error: unknown,
  agent: Pick<AgentConfig, 'authMethod'>,
  introduction: InitializeResponse | undefined,
): unknown {
  if (!(error instanceof RequestError) || error.code !== authRequired) {
    return error;
  }
  const detail = agentMessage(error).replace(opening, '');
  const cause = detail === '' ? 'Authentication required' : `Authentication required (${detail})`;
  return new AcpFailure('authentication-required', cause, loginRemedy(agent, loginOf(introduction)));
}

/** Who refuses, and what it offers. */
export const loginOf = (introduction: InitializeResponse | undefined) => ({
  agentName: introduction?.agentInfo?.name,
  methods: methodsOf(introduction),
});

/** The methods that a client may pass to `authenticate`. */
export const methodsOf = (introduction: InitializeResponse | undefined): AuthMethodOffer[] =>
  (introduction?.authMethods ?? []).filter((method) => !isTerminalMethod(method));

/** A method that opens a terminal, which no agent has here; agents send it before the protocol's types name it. */
const isTerminalMethod = (method: object): boolean => 'type' in method && method.type === 'terminal';
