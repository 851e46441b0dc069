import type { ToolBridgeFile } from '../../../contracts/runs/launch/tool-bridge';

/** The file of a tool bridge, with what a test is about. */
export const aToolBridge = (fields: Partial<ToolBridgeFile> = {}): ToolBridgeFile => ({
  schemaVersion: 'tool-bridge/v1',
  taskId: 'task_20260101_fixture',
  attemptId: 'attempt_00000000aa',
  catalogDigest: `sha256:${'a'.repeat(64)}`,
  catalogUrl: 'http://127.0.0.1:1/api/run-tool-bridge/catalog',
  callUrl: 'http://127.0.0.1:1/api/run-tool-bridge/call',
  mcpUrl: 'http://127.0.0.1:1/api/run-tool-bridge/mcp',
  handle: 'first',
  ...fields,
});
