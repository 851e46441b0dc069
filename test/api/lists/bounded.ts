import { watcherRisk } from '../../../contracts/governance/watcher-policy';
import { maxTrackerProfiles } from '../../../contracts/integrations/trackers/profile';
import { trackerProvider } from '../../../contracts/integrations/trackers/tracker';
import { permission } from '../../../contracts/permissions';
import { maxTransitionRules } from '../../../contracts/settings/transition-hook';
import { capabilityIds } from '../../../domain/capabilities';
import { maxWorkspaces } from '../../../stores/identity/workspace-store';

/** Lists that are returned whole: the most items they can have, and the rule that limits them. */
export const bounded: Record<string, [most: number, because: string]> = {
  listComments: [1_000, 'the schema of a task'],
  listTaskDeliverables: [500, 'the schema of a task'],
  listObservations: [500, 'the schema of a task'],
  listAttachments: [100, 'the schema of a task'],
  listCommunicationAdapters: [100, 'maxAdapters'],
  listCommunityChannels: [200, 'maxChannels'],
  listCommunityDefinitions: [200, 'maxDefinitions'],
  listCommunityDefinitionLinks: [200, 'maxDefinitions'],
  listProjects: [500, 'managedListLimit'],
  listSprints: [500, 'managedListLimit'],
  listTaskTypes: [500, 'managedListLimit'],
  listTemplates: [500, 'maxTemplates'],
  listTrackerProfiles: [maxTrackerProfiles, 'maxTrackerProfiles'],
  getTrackerConnections: [trackerProvider.options.length, 'the providers that there are'],
  listReportTemplates: [5, 'the templates that there are'],
  listToolPolicies: [200, 'the record editor of tool policies'],
  getAgents: [100, 'the schema of the configuration'],
  getDependencyGraph: [1_000, 'maxTasks of one direction; the rest is in the dependencies of each task'],
  getStatusDay: [5_000, 'changes of a day that are summed up'],
  getStatusWeek: [7, 'days of a week'],
  listSkillCapabilityDefinitions: [11, 'the capabilities that there are'],
  listSkillSecurityPatterns: [100, 'the rules that there are'],
  listLaunchRecommendations: [100, 'its `limit`, which is 10 when absent'],
  listWorkflowRecipes: [10, 'the recipes that there are'],
  verifyAudit: [100, 'mostBreaks'],
};

/** Responses about one thing: the most items the longest of their arrays can have, and the rule that limits it. */
export const ofOneThing: Record<string, [most: number, because: string]> = {
  getAttempt: [1_000, 'listed commits and files of a completion; claims are bounded by its schema'],
  getAuthContext: [permission.options.length, 'the permissions that there are'],
  getBridgedToolCatalog: [16_000, 'toolLimits of 32 servers, the most that an agent or a profile names'],
  getToolCatalog: [16_000, 'toolLimits of 32 servers, the most that an agent or a profile names'],
  getBroadcast: [1_000, 'maxReaders of a broadcast'],
  getConflictFile: [26_000, 'maxVersionBytes, of which a marker has at least 20 with its lines'],
  getConflicts: [1_000, 'maxListed of the files in conflict'],
  getDecision: [100, 'the schema of a decision; its chain has 50, longestChain, and goes on with that of the first'],
  getDecisionReview: [80, 'reviewLimits: two answers of eight participants in five rounds'],
  getError: [50, 'the schema of an error; related tasks are 10, relatedNamed'],
  getFileDiff: [25_000, 'maxPageBytes, of which a line has at least 40'],
  getFeedback: [20, 'the schema of feedback'],
  getGovernanceTrace: [256, 'the bounds of what a trace stores'],
  getGoal: [
    1_500,
    'goalLimits: its runs, its changes of state by callers, those that follow from runs, and its evidence',
  ],
  getOwnProfile: [maxWorkspaces, 'maxWorkspaces, in each of which a user is a member once'],
  getPrompt: [8_000, 'the names of variables that fit into the content of a prompt'],
  getProviderHealth: [100, 'maxProviderFailures'],
  getReflection: [20, 'the schema of a reflection'],
  getRegisteredAgent: [200, 'the schema of a registration and its manifest'],
  getReservation: [16, 'three ceilings of each of five scopes, and what the host announces'],
  getRotationStatus: [20, 'maxFormerSecrets'],
  getRunApproval: [100, 'limits.scopes of an approval; requirements are one for each dimension of a phase'],
  getRunRecovery: [66, 'artifacts that the schema of a completion allows, and two lines about files and commits'],
  getRunStatus: [capabilityIds.length, 'capabilityIds; the controls are a table of fewer'],
  getSkillProfile: [100, 'the names that a manifest declares'],
  getSkillScan: [200, 'maxFindings, and the files that are read of a skill'],
  getSchedulerItem: [10, 'maxNextRuns'],
  getSharedResource: [200, 'the schema of a shared resource'],
  getToolServer: [256, 'the schema of a definition; hosts of its health are maxHosts'],
  getTransitionHooks: [maxTransitionRules, 'maxTransitionRules'],
  getTransitionRule: [50, 'the schema of a rule'],
  getTrackerSchema: [500, 'schemaLimits and maxAllowedValues of a field'],
  getWatcherPolicy: [watcherRisk.options.length, 'the risks that there are'],
  getWorktree: [50, 'keptHistory of a worktree; findings are one for each code, with 20 processes'],
  inspectQueueEntry: [16, 'the ceilings of a reservation'],
  getWorkflowRun: [1_050, 'the schema of a definition: its steps and their branches'],
  openWorktree: [64, 'the arguments that BOARD_EDITOR_COMMAND may have'],
  previewWorktreeCleanup: [21, 'findings are one for each code; 20 processes and 21 reasons are listed'],
};

/** Responses that sum up or show a part of a list, and the list that has all of it. */
export const summaries: Record<string, string> = {
  compareAgents: 'listTelemetry',
  getAllMetrics: 'listTelemetry',
  getDailyDigest: 'listTelemetry',
  getDurationMetrics: 'listTelemetry',
  getOperationsDigest: 'listTelemetry',
  getRecentSummary: 'listTasks',
  getStandup: 'listActivity',
  getSummary: 'listTasks',
  getRunMetrics: 'listTelemetry',
  getTaskCosts: 'listTelemetry',
  getTimeline: 'listTasks',
  getTokenMetrics: 'listTelemetry',
  getTrends: 'listTelemetry',
  getUtilization: 'listTelemetry',
  getVelocity: 'listTasks',
  getAgentStatus: 'listReservations',
  getBlockingStatus: 'listDependencies',
  getBoardHealth: 'listTasks',
  getBoardMetrics: 'listTasks',
  getChatSession: 'readChatHistory',
  getConfiguration: 'listRepositories',
  getFeedbackAnalytics: 'listFeedback',
  getRegistryHealth: 'listRegisteredAgents',
  getRegistryStats: 'listRegisteredAgents',
  getTaskContext: 'listDependencies',
};

/** Lists whose cursor has another name in the specification, by the parameter for the next page. */
export const byPlace: Record<string, string> = {
  listRunEvents: 'afterSequence',
  listRunChildEvents: 'afterSequence',
  readOutputArtifact: 'offset',
};

/**
 * Lists that ask a worker's host: what is read of the store is tested there (`test/stores/contract/run-lists.ts`), what is read
 * by git in `test/e2e/worktrees`.
 */
export const ofHosts = [
  'getDiff',
  'getFullDiff',
  'getGithubStatus',
  'getWorkspaceTrust',
  'listRepositoryBranches',
  'previewExpiredWorktrees',
];
