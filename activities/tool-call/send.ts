import type { ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { createRedactor } from '../../platform/log/redact';
import { redactJson } from '../../platform/log/redact-json';
import type { ToolServerPool } from '../../providers/tool-servers/pool';
import { type ToolCallResult, ToolServerError } from '../../providers/tool-servers/tool-server';
import type { ToolCallEnd, ToolCallRecord, ToolCallStore } from '../../stores/integrations/tool-call-store';
import type { WorkflowToolCallStore } from '../../stores/integrations/workflow-tools/call-store';

const redact = createRedactor();
const resultBounds = { bytes: 1_200_000, depth: 48, items: 20_000 };

interface Sending {
  pool: Pick<ToolServerPool, 'use'>;
  /** Takes the call for dispatch; `undefined` when it was taken before. */
  take: () => Promise<{ arguments?: Record<string, unknown> } | undefined>;
}

/**
 * Sends a call over the connection of a key, once it is taken.
 *
 * @returns how it has ended; `undefined` when it was taken before
 */
export async function sendCall(
  { pool, take }: Sending,
  {
    definition,
    key,
    tool,
    signal,
  }: { definition: ToolServerDefinition; key: string; tool: string; signal: AbortSignal },
): Promise<ToolCallEnd | undefined> {
  try {
    const result = await pool.use(definition, key, async (connection) => {
      const taken = await take();
      return (
        taken &&
        connection.callTool({
          name: tool,
          arguments: taken.arguments ?? {},
          signal,
          timeoutMs: definition.toolTimeoutMs,
        })
      );
    });
    return result && { state: 'completed', result: stored(result) };
  } catch (error) {
    if (!(error instanceof ToolServerError)) {
      throw error;
    }
    const { code, message, remedy, isSent } = error;
    return { state: isSent ? 'outcome-unknown' : 'failed', error: { code, message, remedy } };
  }
}

/** Gives a call without an end one: it was not sent, for the reason that is given, or its response was lost. */
export async function settleCall(
  calls: Pick<ToolCallStore | WorkflowToolCallStore, 'end'>,
  id: string,
  { notSent, at }: { notSent: NonNullable<ToolCallRecord['error']>; at: string },
): Promise<void> {
  await calls.end(id, { from: ['requested'], end: { state: 'failed', error: notSent }, at });
  await calls.end(id, { from: ['dispatched'], end: { state: 'outcome-unknown', error: lostResponse }, at });
}

/** The end of a call whose worker died before its response. */
const lostResponse = {
  code: 'response-lost',
  message: 'The worker ended between the call and its response: whether the tool took effect is not known.',
  remedy: 'Find out what the tool did before calling it again with a new operationId.',
};

/** A result as it is stored and returned, each time the same: without what looks like a secret. */
function stored({ isError, truncated, ...content }: ToolCallResult) {
  const { value } = redactJson(content, redact, resultBounds);
  const { content: parts, structuredContent } = value;
  return {
    content: Array.isArray(parts) ? parts : [],
    ...(typeof structuredContent === 'object' && structuredContent !== null
      ? { structuredContent: structuredContent as Record<string, unknown> }
      : {}),
    isError,
    truncated: truncated || !Array.isArray(parts),
  };
}
