import type { WorkflowAccess, WorkflowRights } from '../../contracts/runs/workflows/definition';

/** Who asks, as far as access to workflows depends on it. */
export interface WorkflowCaller {
  actor: string;
  role: string;
}

/** What a caller may do with a workflow, beside the permissions of its role. Executors and editors also see it. */
export function rightsOf(access: WorkflowAccess, { actor, role }: WorkflowCaller): WorkflowRights {
  if (role === 'admin' || access.owner === actor) {
    return { view: true, edit: true, execute: true };
  }
  const edit = access.editors.includes(actor);
  const execute = access.public || access.executors.includes(actor);
  return { view: edit || execute || access.viewers.includes(actor), edit, execute };
}
