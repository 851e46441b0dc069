/** The workspace whose workflows have the ids that they had before there were others. */
const local = 'local';

const shape = /^ws\/(ws-[a-z0-9]{4,32})\/(.+)$/s;

/** The id of a workflow, or of a schedule, of a workspace: two workspaces may have tasks of one id. */
export const idInWorkspace = (workspaceId: string, id: string): string =>
  workspaceId === local ? id : `ws/${workspaceId}/${id}`;

/** A workflow as its workspace knows it. */
export interface WorkspaceWorkflow {
  workspaceId: string;
  id: string;
}

/** Whose workflow it is, and its id there. */
export function workspaceWorkflow(workflowId: string): WorkspaceWorkflow {
  const [, workspaceId = local, id = workflowId] = shape.exec(workflowId) ?? [];
  return { workspaceId, id };
}
