import { randomBytes } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { validationError } from '../../../platform/errors/app-error';
import { parseJsonRpc } from '../../../platform/http/body/json-rpc';
import { textDigest } from '../../../platform/json/digest';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { serviceVersion } from '../../version';
import { type BridgeContext, bridgedTools, callBridged } from './mcp-tools';

/** Names the session of a client: request ids are counted from the beginning by each of them. */
export const sessionHeader = 'Mcp-Session-Id';

export const newSession = (): string => randomBytes(24).toString('base64url');

const sessionShape = /^[A-Za-z0-9_-]{16,128}$/;

/** A message as it was received. */
interface Received {
  body: Buffer;
  session: string | undefined;
  actor: string;
}

/** What is answered to a message. */
interface Answer {
  /** `undefined` for a notification. */
  message: JSONRPCMessage | undefined;
  /** A new client begins: its session is to be named. */
  initialized: boolean;
}

/**
 * Answers one message of a client of the Model Context Protocol. Nothing is remembered between two of them: each has the handle, and
 * what a client calls is in the stores.
 *
 * @throws AppError 400 for what is no message
 */
export async function answerMessage(
  context: BridgeContext,
  record: AttemptRecord,
  { body, session, actor }: Received,
): Promise<Answer> {
  const received = messageOf(body);
  if (!isJSONRPCRequest(received)) {
    return { message: undefined, initialized: false };
  }
  const initialized = isInitializeRequest(received);
  if (session !== undefined ? !sessionShape.test(session) : received.method === 'tools/call') {
    throw validationError([
      { path: sessionHeader, message: 'must be the session that the response to initialize names' },
    ]);
  }
  const { server } = new McpServer({ name: 'runboard', version: serviceVersion }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await bridgedTools(context, record) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callBridged(context, record, {
      name: params.name,
      values: params.arguments ?? {},
      operationId: operationOf(session ?? '', received.id),
      actor,
    }),
  );
  const message = await responseOf(server, received);
  return { message, initialized };
}

/** The longest name of an operation that is taken as it is. */
const longestOperation = 240;

/** Names a request of a session: a long id is not cut, since another may begin the same. */
function operationOf(session: string, id: string | number): string {
  const name = `mcp/${session}/${typeof id}/${id}`;
  return name.length > longestOperation ? `mcp/${textDigest(name)}` : name;
}

function messageOf(body: Buffer): JSONRPCMessage {
  const parsed = JSONRPCMessageSchema.safeParse(parseJsonRpc(body));
  if (!parsed.success) {
    throw validationError([{ path: '', message: 'must be one message of JSON-RPC 2.0' }]);
  }
  return parsed.data;
}

/** Has a server answer one request. */
async function responseOf(server: McpServer['server'], request: JSONRPCMessage): Promise<JSONRPCMessage> {
  let answer: (message: JSONRPCMessage) => void = () => undefined;
  const answered = new Promise<JSONRPCMessage>((resolve) => {
    answer = resolve;
  });
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => {
      answer(message);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  await server.connect(transport);
  transport.onmessage?.(request);
  try {
    return await answered;
  } finally {
    await server.close();
  }
}
