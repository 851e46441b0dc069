import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { argumentLimitBytes, type ToolCall } from '../../../contracts/integrations/tool-call';
import type { CatalogTool, ToolCatalog } from '../../../contracts/integrations/tool-catalog';
import { AppError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { toolCallIdOf } from '../../../stores/integrations/tool-call-store';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { callTool, joinCall, type ToolCallContext } from '../../integrations/tool-servers/call';

export type BridgeContext = ToolCallContext;

/** A call as a client of the protocol makes it. */
export interface McpCall {
  name: string;
  values: Record<string, unknown>;
  /** Names the request: sent again it is the same call. */
  operationId: string;
  actor: string;
}

/** How long a decision is waited for, and then a call, in milliseconds: together less than a request may take. */
const waitsMs = { approval: 10_000, call: 15_000 } as const;

/** Waits for a call that takes longer than one request may. No server and tool have this name, whose parts `__` joins. */
const waitTool: Tool = {
  name: 'runboard_wait',
  description: 'Waits for a call that still runs, and returns its result.',
  inputSchema: {
    type: 'object',
    properties: { operationId: { type: 'string', description: 'Of the call, as its response named it.' } },
    required: ['operationId'],
  },
};

const nameOf = (serverId: string, { name }: Pick<CatalogTool, 'name'>): string => `${serverId}__${name}`;

/** A tool of a catalog by its name in the protocol. */
interface NamedTool {
  name: string;
  serverId: string;
  tool: CatalogTool;
}

const namedTools = (catalog: Pick<ToolCatalog, 'servers'> | undefined): NamedTool[] =>
  (catalog?.servers ?? []).flatMap(({ serverId, tools }) =>
    tools.map((tool) => ({ name: nameOf(serverId, tool), serverId, tool })),
  );

/**
 * The tools that may be called, as `<server>__<tool>`; none for a run without a catalog. Two tools can come to one name, which
 * is then neither's.
 */
export async function bridgedTools(
  { toolCatalogs }: Pick<BridgeContext, 'toolCatalogs'>,
  { _id }: Pick<AttemptRecord, '_id'>,
): Promise<Tool[]> {
  const all = namedTools(await toolCatalogs.get(_id));
  const uses = new Map<string, number>();
  for (const { name } of all) {
    uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  const tools = all
    .filter(({ name, tool }) => tool.policy !== 'denied' && uses.get(name) === 1)
    .map(({ name, tool: { title, description, inputSchema } }) => ({
      name,
      // A schema that is none of an object is no discovered tool's.
      inputSchema: inputSchema as Tool['inputSchema'],
      ...compact({ title, description }),
    }));
  return tools.length === 0 ? [] : [...tools, waitTool];
}

/** Calls a tool by its name in the protocol. What the board refuses is a result that states why, so that the agent reads it. */
export async function callBridged(
  context: BridgeContext,
  record: AttemptRecord,
  call: McpCall,
): Promise<CallToolResult> {
  if (call.name === waitTool.name) {
    return waited(context, record, call);
  }
  const [named, other] = await find(context, record, call.name);
  if (!named) {
    return failure(`No tool of this run has the name ${JSON.stringify(call.name.slice(0, 200))}.`);
  }
  if (other) {
    const names = [named, other].map(({ serverId, tool }) => `${tool} of ${serverId}`).join(' and ');
    return failure(`The name is that of ${names}: call one of them with POST /api/run-tool-bridge/call.`);
  }
  if (Buffer.byteLength(JSON.stringify(call.values)) > argumentLimitBytes) {
    return failure(`The arguments have more than ${argumentLimitBytes} bytes.`);
  }
  return answered(context, record, { ...named, ...call });
}

async function answered(
  context: BridgeContext,
  record: AttemptRecord,
  { serverId, tool, values, operationId, actor }: McpCall & { serverId: string; tool: string },
): Promise<CallToolResult> {
  try {
    const waits = AbortSignal.timeout(waitsMs.approval);
    const request = {
      operationId,
      serverId,
      tool,
      arguments: values as Record<string, never>,
      actor,
      waits,
      withinMs: waitsMs.call,
    };
    return resultOf(await callTool(context, record, request));
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    const { code, message, details } = error;
    if (code === 'TOOL_CALL_PENDING') {
      return failure(`The tool still runs. Call ${waitTool.name} with the operationId ${operationId} for its result.`);
    }
    const issues = Array.isArray(details.issues) ? ` ${JSON.stringify(details.issues)}` : '';
    return failure(`${code}: ${message}${issues}`);
  }
}

/** Joins a call of this attempt by its operation. */
async function waited(context: BridgeContext, record: AttemptRecord, { values }: McpCall): Promise<CallToolResult> {
  const { operationId } = values;
  const earlier =
    typeof operationId === 'string' && operationId.length <= 240
      ? await context.toolCalls.get(toolCallIdOf(record._id, operationId))
      : undefined;
  if (typeof operationId !== 'string' || !earlier) {
    return failure('No call of this run has this operationId.');
  }
  try {
    return resultOf(await joinCall(context, record, earlier));
  } catch (error) {
    if (error instanceof AppError && error.code === 'TOOL_CALL_PENDING') {
      return failure(`The tool still runs. Call ${waitTool.name} with the operationId ${operationId} again.`);
    }
    throw error;
  }
}

async function find(
  { toolCatalogs }: BridgeContext,
  { _id }: AttemptRecord,
  name: string,
): Promise<{ serverId: string; tool: string }[]> {
  const all = namedTools(await toolCatalogs.get(_id));
  return all.filter((each) => each.name === name).map(({ serverId, tool }) => ({ serverId, tool: tool.name }));
}

function resultOf({ state, result, error, id }: ToolCall): CallToolResult {
  if (state === 'completed' && result) {
    const { content, structuredContent, isError } = result;
    return { content: content as CallToolResult['content'], isError, ...compact({ structuredContent }) };
  }
  const unknown = state === 'outcome-unknown' ? 'The outcome is unknown: ' : 'The call failed: ';
  return failure(`${unknown}${error?.message ?? ''} ${error?.remedy ?? ''} (${id})`);
}

const failure = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });
