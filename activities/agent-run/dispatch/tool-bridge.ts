import type { ToolBridgeFile } from '../../../contracts/runs/launch/tool-bridge';
import type { VisibleProcess } from '../../../platform/processes/identity';
import type { ToolServerPool } from '../../../providers/tool-servers/pool';
import type { AttemptHandleStore } from '../../../stores/runs/attempt-handle-store';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';

export interface ToolBridgeDependencies {
  handles: Pick<AttemptHandleStore, 'issue' | 'revoke'>;
  /** The tool servers that this process has started for attempts. */
  pool: Pick<ToolServerPool, 'close'>;
  /** The address of the API as agents of this host reach it. */
  url: string;
}

interface Dependencies {
  toolBridge: ToolBridgeDependencies;
  limits: { runTimeoutMs: number; stopGraceMs: number };
  /** This worker process, which supervises the attempt. */
  self: VisibleProcess;
}

/**
 * How the agent of an attempt calls its tools; `undefined` for a launch without any. The handle is a new one, and ends with the time of
 * the attempt and with this worker at the latest: the worker that adopts the agent issues the next one.
 *
 * @param ranMs how long the agent has run already, in milliseconds
 */
export async function toolBridgeOf(
  { toolBridge: { handles, url }, limits, self }: Dependencies,
  { _id: attemptId, taskId, runLaunchManifest }: Pick<AttemptRecord, '_id' | 'taskId' | 'runLaunchManifest'>,
  ranMs: number,
): Promise<ToolBridgeFile | undefined> {
  const catalogDigest = runLaunchManifest?.tools?.catalog?.digest;
  if (catalogDigest === undefined) {
    return undefined;
  }
  const remainingMs = Math.max(0, (runLaunchManifest?.resources?.timeoutMs ?? limits.runTimeoutMs) - ranMs);
  const base = `${url.replace(/\/+$/, '')}/api/run-tool-bridge`;
  return {
    schemaVersion: 'tool-bridge/v1',
    taskId,
    attemptId,
    catalogDigest,
    catalogUrl: `${base}/catalog`,
    callUrl: `${base}/call`,
    mcpUrl: `${base}/mcp`,
    handle: await handles.issue(attemptId, { lifetimeMs: remainingMs + limits.stopGraceMs, supervisor: self }),
  };
}

/** The handle counts no more, and the tool servers of the attempt on this host have ended. */
export async function endToolBridge({ handles, pool }: ToolBridgeDependencies, attemptId: string): Promise<void> {
  await handles.revoke(attemptId);
  await pool.close(attemptId);
}
