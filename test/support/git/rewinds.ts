import { eventually } from '../../../platform/testing/eventually';
import type { Caller } from '../caller';
import { git } from './repository';

/** A run of the agent `editor`, which follows its instructions turn by turn. */
export interface EditorRun {
  taskId: string;
  attemptId: string;
  path: string;
}

export async function anEditorRun(call: Caller): Promise<EditorRun> {
  const { id: taskId } = await call.createTask({ title: 'Edit', git: { repo: 'sample' } });
  const { attemptId } = await call.start(taskId, { agent: 'editor' });
  const { taskEnvelope } = await call.status(taskId);
  return { taskId, attemptId, path: taskEnvelope.workspace.path };
}

export async function latestCheckpoint(call: Caller, { taskId, attemptId }: EditorRun) {
  const url = `/api/agents/${taskId}/workspace/checkpoints?attemptId=${attemptId}`;
  return (await call.ok('GET', url)).checkpoints.at(-1);
}

/** Sends the agent instructions, and returns the checkpoint that has all of their changes. */
export async function aTurn(call: Caller, run: EditorRun, instructions: string, holds: Record<string, string>) {
  const { taskId, attemptId, path: cwd } = run;
  await call.ok('POST', `/api/agents/${taskId}/message`, { attemptId, message: instructions });
  return eventually(
    async () => {
      const latest = await latestCheckpoint(call, run);
      for (const [path, content] of Object.entries(holds)) {
        expectEqual(await git(cwd, 'show', `${latest.commit}:${path}`), content);
      }
      return latest as { id: string; number: number; commit: string; turn: { turnId: string } };
    },
    { everyMs: 50 },
  );
}

/** Also for scripts, which have no `expect`. */
function expectEqual(found: string, wanted: string): void {
  if (found !== wanted) {
    throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
  }
}

export const requestRewind = (
  call: Caller,
  { taskId, attemptId }: EditorRun,
  target: { id: string },
  descendant: { id: string },
  requestId: string,
  resolutions: object[] = [],
) =>
  call.post(`/api/agents/${taskId}/workspace/checkpoints/rewind`, {
    attemptId,
    targetCheckpointId: target.id,
    descendantCheckpointId: descendant.id,
    requestId,
    resolutions,
  });

export const decideApproval = (
  call: Caller,
  approval: { id: string; revision: number; actionHash: string },
  decision: string,
) =>
  call.ok('POST', `/api/run-approvals/${approval.id}/decision`, {
    decision,
    expectedRevision: approval.revision,
    expectedActionHash: approval.actionHash,
  });
