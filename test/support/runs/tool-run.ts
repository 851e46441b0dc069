import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { DeliveredToolBridge, ToolBridgeFile } from '../../../contracts/runs/launch/tool-bridge';
import { eventually } from '../../../platform/testing/eventually';
import { type Caller, scriptAgent } from '../caller';

/** A run whose agent waits, with the file of its tool bridge as the agent has copied it. */
export interface ToolRun {
  taskId: string;
  attemptId: string;
  catalogDigest: string;
  bridge: ToolBridgeFile & {
    path: string;
    mode: string;
    inEnvironment: boolean;
    inTask: boolean;
    sections: { id: string; text: string }[];
    /** As it is in the document of its task. */
    toolBridge: DeliveredToolBridge;
  };
}

/** An agent that copies its tool bridge to the path, and waits. */
export const toolUser = (copy: string) => ({
  ...scriptAgent('handle-bearer', copy, 'BOARD_TOOL_BRIDGE'),
  type: 'tool-user',
});

/** Starts a run of the agent, which has to be a `toolUser` that copies its bridge to the path. */
export async function startToolRun(call: Caller, agent: string, copy: string): Promise<ToolRun> {
  rmSync(copy, { force: true });
  const task = await call.createTask({ title: 'Use tools', agent, git: { repo: 'sample' } });
  const { attemptId } = await call.start(task.id);
  const bridge = await eventually(() => {
    if (!existsSync(copy)) {
      throw new Error('The agent has no tool bridge yet.');
    }
    return JSON.parse(readFileSync(copy, 'utf8')) as ToolRun['bridge'];
  });
  return { taskId: task.id, attemptId, catalogDigest: bridge.catalogDigest, bridge };
}

/** Lets the agent of the run end, and waits for that. */
export async function endToolRun(call: Caller, { taskId, attemptId }: ToolRun): Promise<void> {
  await call.ok('POST', `/api/agents/${taskId}/message`, { attemptId, message: 'end', actor: 'ann' });
  await call.ended(taskId);
}
