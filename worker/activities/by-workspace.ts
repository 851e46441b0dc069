import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { localWorkspace } from '../../contracts/common';
import { workspaceWorkflow } from '../../workflows/workspace-ids';

/** Activities by their names; each takes the input of its own workflow. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- inputs of activities have nothing in common
type Activities = Record<string, (...inputs: any[]) => Promise<unknown>>;

/** Activities of the installation, which no workflow of another workspace than `local` may schedule. */
const ofInstallation: ReadonlySet<string> = new Set(['dispatchQueued']);

/**
 * Activities that act on the records of the workspace of their workflow. Its id decides alone, which the server records: nothing in
 * an input can choose another workspace.
 *
 * @param of the activities of another workspace; rejects when there is none
 */
export function byWorkspace<T extends Activities>(local: T, of: (workspaceId: string) => Promise<T>): T {
  const chosen = Object.entries(local).map(([name, activity]) => {
    const run = async (...inputs: unknown[]): Promise<unknown> => {
      const { workspaceId } = workspaceWorkflow(Context.current().info.workflowExecution?.workflowId ?? '');
      if (workspaceId === localWorkspace) {
        return activity(...inputs);
      }
      const own = ofInstallation.has(name) ? undefined : (await of(workspaceId))[name];
      if (!own) {
        throw ApplicationFailure.create({
          type: 'ACTIVITY_FORBIDDEN',
          message: `${name} is no activity of the workspace ${workspaceId}.`,
          nonRetryable: true,
        });
      }
      return own(...inputs);
    };
    return [name, run] as const;
  });
  // The same names, with functions of the same inputs and results.
  return Object.fromEntries(chosen) as T;
}
