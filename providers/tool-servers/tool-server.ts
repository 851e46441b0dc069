import type { DiscoveredTool, ToolServerErrorCode } from '../../contracts/integrations/tool-server';
import type { AgentHost } from '../agents/local/agent-environment';

/** Where tool servers are started and called from. */
export interface ToolServerEnvironment {
  /** What programs may be given variables of, and who they run as. */
  host: AgentHost;
  /** Whether servers may be on private networks, and without TLS. */
  allowPrivate: boolean;
  /** The variable of each credential scope that may be used now; absent ones are unknown or disabled. */
  credentialVariables: () => Promise<ReadonlyMap<string, string>>;
}

export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
  signal: AbortSignal;
  timeoutMs: number;
}

/** What a tool returned, without credentials of the server. */
export interface ToolCallResult {
  content: unknown[];
  structuredContent?: Record<string, unknown>;
  /** The tool reports that it failed. */
  isError: boolean;
  /** Whether a part was left out because the result was too large. */
  truncated: boolean;
}

/** What a server offers. */
export interface ListedTools {
  tools: DiscoveredTool[];
  /** Whether titles or descriptions were cut. */
  truncated: boolean;
}

/** A server that has introduced itself. Every method throws a {@link ToolServerError} within its time, whatever the server does. */
export interface ToolServerConnection {
  readonly server: { name: string; version: string };
  /** Aborted when the server can be called no more. */
  readonly ended: AbortSignal;
  listTools(signal: AbortSignal): Promise<ListedTools>;
  callTool(call: ToolCall): Promise<ToolCallResult>;
  /** Resolves when nothing of it is left on this host. */
  close(): Promise<void>;
}

interface Failure {
  code: ToolServerErrorCode;
  message: string;
  remedy: string;
  cause?: unknown;
}

/** Why a tool server cannot be used: sentences for a person, without secrets. */
export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
  readonly code: ToolServerErrorCode;
  readonly remedy: string;
  /** Whether the server may have received a call of a tool: what it did of it is not known then. */
  isSent = false;
  /** When it may be tried again, for a server that is started again after a pause. */
  retryAfterMs?: number;

  constructor({ code, message, remedy, cause }: Failure) {
    super(message, { cause });
    this.code = code;
    this.remedy = remedy;
  }
}
