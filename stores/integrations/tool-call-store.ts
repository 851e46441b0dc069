import { createHash } from 'node:crypto';
import type { ToolCall, ToolCallOutput } from '../../contracts/integrations/tool-call';
import { compact } from '../../platform/json/compact';
import type { Database, Stored } from '../port/collection';
import { insertOrGet } from '../port/insert';

/** Every call, whosever it is. */
type CallFields = Omit<ToolCall, 'schemaVersion' | 'replayed' | 'taskId' | 'attemptId'>;

interface Document extends Stored, Omit<CallFields, 'id' | 'result'> {
  /** As JSON, since names of fields are the caller's; removed once the call has ended. */
  arguments?: string;
  /** As JSON. */
  result?: string;
}

/** A call as it is stored, with what is to be sent, and whose it is. */
export type StoredCall<Holder> = CallFields & {
  /** `undefined` once the call has ended. */
  arguments?: Record<string, unknown>;
} & Holder;

/** A call of the agent of an attempt. */
export type ToolCallRecord = StoredCall<Pick<ToolCall, 'taskId' | 'attemptId'>>;

/** How a call ends. */
export type ToolCallEnd =
  | { state: 'completed'; result: ToolCallOutput }
  | { state: 'failed' | 'outcome-unknown'; error: NonNullable<ToolCall['error']> };

interface ApprovalUse extends Stored {
  callId: string;
  at: string;
}

/** Calls, and which of them an approval was used for, disappear so many seconds later: much longer than any run may take. */
const lifetimeSeconds = 180 * 86_400;

/**
 * The id of the call that an operation is. Only this hash of the caller's name of it is stored.
 *
 * @param holder the id of the attempt, or of the run of a workflow, whose operation it is
 */
export const toolCallIdOf = (holder: string, operationId: string): string =>
  `toolcall_${createHash('sha256').update(`${holder}\n${operationId}`).digest('hex').slice(0, 40)}`;

/** Calls of tools: each is dispatched once or never, and has one end. */
export async function openCalls<Holder extends object>(
  db: Database,
  { name, indexes }: { name: string; indexes: { keys: Record<string, 1 | -1> }[] },
) {
  const calls = await db.collection<Document>({
    name,
    indexes,
    expire: { field: 'createdAt', afterSeconds: lifetimeSeconds },
  });
  // What is particular to a holder is stored beside, and neither looked for nor changed here.
  const present = ({ _id, arguments: values, result, ...fields }: Document): StoredCall<Holder> =>
    ({
      id: _id,
      ...fields,
      ...compact({
        arguments: values === undefined ? undefined : (JSON.parse(values) as Record<string, unknown>),
        result: result === undefined ? undefined : (JSON.parse(result) as ToolCallOutput),
      }),
    }) as StoredCall<Holder>;

  return {
    async get(id: string): Promise<StoredCall<Holder> | undefined> {
      const found = await calls.get(id);
      return found && present(found);
    },

    /** Writes a request that passed every check, or returns the call that has its id already. */
    async request(call: StoredCall<Holder> & { arguments: Record<string, unknown> }): Promise<StoredCall<Holder>> {
      const { id, arguments: values, result: _none, ...fields } = call;
      const document = { ...fields, _id: id, arguments: JSON.stringify(values) };
      return present(await insertOrGet<Document>(calls, document));
    },

    /** Takes the call for dispatch: only one caller ever gets it. */
    async dispatch(id: string, at: string): Promise<StoredCall<Holder> | undefined> {
      const taken = await calls.findOneAndUpdate(
        { _id: id, state: 'requested' },
        { $set: { state: 'dispatched', dispatchedAt: at } },
      );
      return taken && present(taken);
    },

    /** Records the end of a call out of one of the states; the first end stands. */
    async end(
      id: string,
      { from, end, at }: { from: readonly ('requested' | 'dispatched')[]; end: ToolCallEnd; at: string },
    ): Promise<StoredCall<Holder> | undefined> {
      const fields = end.state === 'completed' ? { result: JSON.stringify(end.result) } : { error: end.error };
      const ended = await calls.findOneAndUpdate(
        { _id: id, state: { $in: [...from] } },
        { $set: { state: end.state, endedAt: at, ...fields }, $unset: { arguments: '' } },
      );
      return ended && present(ended);
    },
  };
}

/** Calls of the agents of attempts, and the approvals that they were made with. */
export async function createToolCallStore(db: Database) {
  const calls = await openCalls<Pick<ToolCall, 'taskId' | 'attemptId'>>(db, {
    name: 'tool-calls',
    indexes: [{ keys: { attemptId: 1, createdAt: 1 } }],
  });
  const uses = await db.collection<ApprovalUse>({
    name: 'tool-call-approvals',
    expire: { field: 'at', afterSeconds: lifetimeSeconds },
  });

  return {
    ...calls,

    /** The call that an approval was used for, if it was for one. */
    approvalUse: async (approvalId: string): Promise<string | undefined> => (await uses.get(approvalId))?.callId,

    /** Uses an approval for a call; returns the call that it is used for, which may be another one. */
    async useApproval(approvalId: string, callId: string, at: string): Promise<string> {
      return (await insertOrGet<ApprovalUse>(uses, { _id: approvalId, callId, at })).callId;
    },
  };
}

export type ToolCallStore = Awaited<ReturnType<typeof createToolCallStore>>;
