import {
  Client,
  ScheduleClient,
  type ScheduleHandle,
  type ScheduleSummary,
  WithStartWorkflowOperation,
  WorkflowClient,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { SearchAttributePair, Workflow } from '@temporalio/common';
import { localWorkspace } from '../../contracts/common';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { idInWorkspace, workspaceWorkflow } from '../workspace-ids';

/** What starts a workflow, as far as it differs between workspaces. */
type Start = Pick<WorkflowStartOptions, 'workflowId' | 'typedSearchAttributes'>;

/** The same start in a workspace, which operators find it by as well. */
function startIn<T extends Start>(workspaceId: string, options: T): T {
  const { typedSearchAttributes = [] } = options;
  if (!Array.isArray(typedSearchAttributes)) {
    throw new TypeError('Search attributes are given as a list of pairs.');
  }
  const workspace: SearchAttributePair = { key: searchAttributes.workspaceId, value: workspaceId };
  const others = typedSearchAttributes.filter(({ key }) => key.name !== workspace.key.name);
  return {
    ...options,
    workflowId: idInWorkspace(workspaceId, options.workflowId),
    typedSearchAttributes: [...others, workspace],
  };
}

/** Starts, signals and reads workflows of one workspace, by the ids that they have there. */
class WorkspaceWorkflowClient extends WorkflowClient {
  constructor(
    client: Client,
    private readonly workspaceId: string,
  ) {
    super({ ...client.workflow.options, connection: client.connection });
  }

  override start: WorkflowClient['start'] = (type, options) => super.start(type, startIn(this.workspaceId, options));

  override execute: WorkflowClient['execute'] = (type, options) =>
    super.execute(type, startIn(this.workspaceId, options));

  override signalWithStart: WorkflowClient['signalWithStart'] = (type, options) =>
    super.signalWithStart(type, startIn(this.workspaceId, options));

  override executeUpdateWithStart: WorkflowClient['executeUpdateWithStart'] = (update, options) =>
    super.executeUpdateWithStart(update, {
      ...options,
      startWorkflowOperation: this.starting(options.startWorkflowOperation),
    });

  override getHandle: WorkflowClient['getHandle'] = (workflowId, runId, options) =>
    super.getHandle(idInWorkspace(this.workspaceId, workflowId), runId, options);

  override startUpdateWithStart = (): never => {
    throw new Error('Updates with a start are waited for: use executeUpdateWithStart.');
  };

  override list = (): never => {
    throw new Error('Workflows are listed for all workspaces, by the client of local.');
  };

  private starting<T extends Workflow>({ workflowTypeOrFunc, options }: WithStartWorkflowOperation<T>) {
    return new WithStartWorkflowOperation<T>(workflowTypeOrFunc, startIn(this.workspaceId, options));
  }
}

/** The schedules of one workspace, by the ids that they have there. */
class WorkspaceScheduleClient extends ScheduleClient {
  constructor(
    client: Client,
    private readonly workspaceId: string,
  ) {
    super({ ...client.schedule.options, connection: client.connection });
  }

  override create: ScheduleClient['create'] = (options: Parameters<ScheduleClient['create']>[0]) =>
    super.create({
      ...options,
      scheduleId: idInWorkspace(this.workspaceId, options.scheduleId),
      action: this.starting(options.action),
    });

  override getHandle(scheduleId: string): ScheduleHandle {
    const own = idInWorkspace(this.workspaceId, scheduleId);
    // The one that `create` returns has its id already.
    const handle = super.getHandle(workspaceWorkflow(scheduleId).workspaceId === this.workspaceId ? scheduleId : own);
    const update = handle.update.bind(handle);
    return Object.assign(handle, {
      update: ((change) =>
        update((previous) => {
          const options = change(previous);
          return { ...options, action: this.starting(options.action) };
        })) satisfies ScheduleHandle['update'],
    });
  }

  override async *list(...options: Parameters<ScheduleClient['list']>): AsyncIterable<ScheduleSummary> {
    for await (const summary of super.list(...options)) {
      const { workspaceId, id } = workspaceWorkflow(summary.scheduleId);
      if (workspaceId === this.workspaceId) {
        yield { ...summary, scheduleId: id };
      }
    }
  }

  private starting<T extends Partial<Start>>(action: T): T {
    const { workflowId } = action;
    if (workflowId === undefined) {
      throw new TypeError('What a schedule starts has an id, which names its workspace.');
    }
    return startIn(this.workspaceId, { ...action, workflowId });
  }
}

/**
 * The client of one workspace: whatever it starts or reaches is of that workspace, by the ids that workflows have within it. That
 * of `local` is the client itself.
 */
export function workspaceClient(client: Client, workspaceId: string): Client {
  if (workspaceId === localWorkspace) {
    return client;
  }
  const { namespace, identity } = client.options;
  const own = new Client({ connection: client.connection, namespace, identity });
  return Object.assign(own, {
    workflow: new WorkspaceWorkflowClient(client, workspaceId),
    schedule: new WorkspaceScheduleClient(client, workspaceId),
  });
}
