import { workflowInfo } from '@temporalio/workflow';
import { searchAttributes } from '../platform/temporal/search-attributes';
import { idInWorkspace, workspaceWorkflow } from './workspace-ids';

/** The id of another workflow of the workspace that this one is of: every child and every receiver of a signal has such an id. */
export const sibling = (id: string): string => idInWorkspace(ownWorkspace(), id);

/** The workspace that this workflow is of. */
export const ownWorkspace = (): string => workspaceWorkflow(workflowInfo().workflowId).workspaceId;

/** The search attributes of a child that is about a task: operators find it by the task and by its workspace. */
export const childOfTask = (taskId: string) => [
  { key: searchAttributes.taskId, value: taskId },
  { key: searchAttributes.workspaceId, value: ownWorkspace() },
];
