import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** What operators can filter runs by in the Temporal UI. All are keywords: matched whole, never tokenised. */
export const searchAttributes = {
  taskId: keyword('BoardTaskId'),
  attemptId: keyword('BoardAttemptId'),
  workspaceId: keyword('BoardWorkspaceId'),
  rootObjectiveId: keyword('BoardRootObjectiveId'),
  agent: keyword('BoardAgent'),
  provider: keyword('BoardProvider'),
  phase: keyword('BoardPhase'),
  runState: keyword('BoardRunState'),
} as const;

/** Their names on the server. */
export const searchAttributeNames: readonly string[] = Object.values(searchAttributes).map(({ name }) => name);
