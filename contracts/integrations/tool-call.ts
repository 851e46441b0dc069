import { z } from 'zod';
import { attemptId, digest, slug, taskId, text, timestamp } from '../common';

/** The caller's name of one call: repeated, it is that call. Only its SHA-256 is stored. */
export const toolOperationId = text(240, 8);

/** How much the arguments of a call may have, in bytes of JSON. */
export const argumentLimitBytes = 262_144;

const toolArguments = z
  .record(z.string().max(1_024), z.json())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= argumentLimitBytes, 'must not exceed 256 KiB')
  .default({});

const called = {
  operationId: toolOperationId,
  serverId: slug,
  tool: z.string().min(1).max(256),
  arguments: toolArguments,
};

/** A call by a handle, which names the attempt and its catalog. */
export const bridgedCall = z.strictObject(called).meta({ id: 'BridgedToolCall' });
export type BridgedCall = z.infer<typeof bridgedCall>;

/** A call of a tool for an attempt. */
export const toolCallRequest = z
  .strictObject({ taskId, attemptId, catalogDigest: digest, ...called })
  .meta({ id: 'ToolCallRequest' });
export type ToolCallRequest = z.infer<typeof toolCallRequest>;

/**
 * - `requested`: nothing was sent to the server yet
 * - `dispatched`: it was sent, once
 * - `completed`: the server responded; whether the tool failed is `result.isError`
 * - `failed`: the tool was not run, and is not with this operation
 * - `outcome-unknown`: it was sent, and its response was lost: whether it took effect is not known, and it is not sent again
 */
export const toolCallState = z.enum(['requested', 'dispatched', 'completed', 'failed', 'outcome-unknown']);
export type ToolCallState = z.infer<typeof toolCallState>;

export const toolCallResult = z.object({
  content: z.array(z.unknown()),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean(),
  /** Whether a part is missing since the result was too large. */
  truncated: z.boolean(),
});
export type ToolCallOutput = z.infer<typeof toolCallResult>;

export const toolCall = z
  .object({
    schemaVersion: z.literal('tool-call/v1'),
    id: z.string(),
    taskId,
    attemptId,
    catalogDigest: digest,
    serverId: slug,
    tool: z.string(),
    argumentsDigest: digest,
    requestedBy: z.string(),
    /** The approval that it was made with. */
    approvalId: z.string().optional(),
    state: toolCallState,
    /** Of a completed call; without what looks like a secret. */
    result: toolCallResult.optional(),
    /** Of a failed call, or one whose outcome is unknown. */
    error: z.object({ code: z.string(), message: z.string(), remedy: z.string() }).optional(),
    createdAt: timestamp,
    dispatchedAt: timestamp.optional(),
    endedAt: timestamp.optional(),
    /** Whether an earlier request with the same operation id was answered. */
    replayed: z.boolean(),
  })
  .meta({ id: 'ToolCall' });
export type ToolCall = z.infer<typeof toolCall>;
