/** Lists that are answered whole: the most items they can have, and the rule that keeps them from having more. */
export const bounded: Record<string, [most: number, because: string]> = {
  listComments: [1_000, 'the schema of a task'],
  listTaskDeliverables: [500, 'the schema of a task'],
  listObservations: [500, 'the schema of a task'],
  listAttachments: [100, 'the schema of a task'],
  listProjects: [500, 'managedListLimit'],
  listSprints: [500, 'managedListLimit'],
  listTaskTypes: [500, 'managedListLimit'],
  listTemplates: [500, 'maxTemplates'],
  listToolPolicies: [200, 'the record editor of tool policies'],
  getAgents: [100, 'the schema of the configuration'],
  getDependencyGraph: [1_000, 'maxTasks of one direction; the rest is in the dependencies of each task'],
  getStatusDay: [5_000, 'changes of a day that are summed up'],
  getStatusWeek: [7, 'days of a week'],
  verifyAudit: [100, 'mostBreaks'],
};

/** Answers about one thing: their arrays were written with it, and its contract says how many of them there may be. */
export const ofOneThing = [
  'getAuthContext',
  'getBroadcast',
  'getDecision',
  'getError',
  'getFeedback',
  'getGovernanceTrace',
  'getReflection',
  'getRegisteredAgent',
  'getReservation',
  'getRunApproval',
  'getRunRecovery',
  'getRunStatus',
  'getSharedResource',
  'getWatcherPolicy',
  'getWorktree',
  'inspectQueueEntry',
  'openWorktree',
  'previewWorktreeCleanup',
];

/** Answers that sum up or show a part of a list, and the list that has all of it. */
export const summaries: Record<string, string> = {
  getAgentStatus: 'listReservations',
  getBlockingStatus: 'listDependencies',
  getChatSession: 'readChatHistory',
  getConfiguration: 'listRepositories',
  getFeedbackAnalytics: 'listFeedback',
  getRegistryHealth: 'listRegisteredAgents',
  getRegistryStats: 'listRegisteredAgents',
  getTaskContext: 'listDependencies',
};

/** Lists whose place the specification gives another name, which is the parameter that goes on. */
export const byPlace: Record<string, string> = {
  listRunEvents: 'afterSequence',
  readOutputArtifact: 'offset',
};

/** Lists that ask a worker's host for each item: what is read of the store is tested there (`test/stores/contract/run-lists.ts`). */
export const ofHosts = ['previewExpiredWorktrees', 'getWorkspaceTrust'];
