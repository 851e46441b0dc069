import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { BoardClient } from '../clients/typescript/src';
import { taskId } from '../contracts/common';

/** What a tool has of the request that calls it. */
export interface ToolCallContext {
  board: BoardClient;
  /** Aborted when the client cancels its request. */
  signal: AbortSignal;
}

/** One tool of the board for a client of the Model Context Protocol: a use of the API, and nothing that the API has not. */
export interface BoardTool {
  name: string;
  title: string;
  /** For a model: what it does, and when to use it. */
  description: string;
  input: z.ZodObject;
  annotations: ToolAnnotations;
  /**
   * Does it, and returns what the model reads, as JSON.
   *
   * @throws BoardError when the board refuses
   */
  call: (context: ToolCallContext, input: never) => Promise<unknown>;
}

/** A tool whose `call` takes what its schema makes of the arguments. */
export const defineTool = <I extends z.ZodObject>(
  tool: Omit<BoardTool, 'input' | 'call'> & {
    input: I;
    call: (context: ToolCallContext, input: z.output<I>) => Promise<unknown>;
  },
): BoardTool => tool;

/** The argument that names a task. */
export const ofTask = { taskId: taskId.describe('Id of the task.') };

/** Tools act on the board alone, and never on the open world. */
const closed = { openWorldHint: false };

export const annotations = {
  /** Changes nothing. */
  reads: { ...closed, readOnlyHint: true },
  /** Adds something; nothing that was there is changed. */
  adds: { ...closed, readOnlyHint: false, destructiveHint: false },
  /** Changes what is there, so that the same again has no further effect. */
  changes: { ...closed, readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  /** Ends, merges or permits what cannot be taken back. */
  destroys: { ...closed, readOnlyHint: false, destructiveHint: true },
} satisfies Record<string, ToolAnnotations>;
