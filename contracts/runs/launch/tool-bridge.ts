import { z } from 'zod';
import { attemptId, digest, taskId } from '../../common';

/** The only permission of the handle of a tool bridge; no role has it. */
export const toolsPermission = 'attempt:tools';

/**
 * The agent's file that is named in `BOARD_TOOL_BRIDGE`: where the tools of its run are called, and with which handle. The worker that
 * adopts an agent replaces it.
 */
export const toolBridgeFile = z.object({
  schemaVersion: z.literal('tool-bridge/v1'),
  taskId,
  attemptId,
  catalogDigest: digest,
  /** GET: the catalog. */
  catalogUrl: z.string(),
  /** POST: one call. */
  callUrl: z.string(),
  /** The same as a server of the Model Context Protocol over streamable HTTP. */
  mcpUrl: z.string(),
  /** Sent as a bearer token. */
  handle: z.string(),
});
export type ToolBridgeFile = z.infer<typeof toolBridgeFile>;

/** What of it is in the document that an agent receives, and not in the one that is recorded: the handle is in its file only. */
export const deliveredToolBridge = toolBridgeFile
  .pick({ catalogDigest: true, catalogUrl: true, callUrl: true, mcpUrl: true })
  .extend({
    /** Absolute path of the `tool-bridge/v1` file with the handle, to be read for each call. */
    handleFile: z.string(),
  });
export type DeliveredToolBridge = z.infer<typeof deliveredToolBridge>;
