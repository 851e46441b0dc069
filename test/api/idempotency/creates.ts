import { aGoal } from '../../support/factories/goal';
import type { ApiUnderTest } from '../api-under-test';

/** What is there for the creates to be about. */
export interface Subjects {
  taskId: string;
  promptId: string;
  /** A shared resource that is a skill with findings. */
  skillId: string;
}

/** Makes what the creates are about, as the caller of a key, or as the administrator. */
export async function makeSubjects(board: Pick<ApiUnderTest, 'call'>, name: string, key?: string): Promise<Subjects> {
  const idOf = async (path: string, body: object): Promise<string> =>
    (await board.call('POST', path, { body, ...(key === undefined ? {} : { key }) })).body.id as string;
  return {
    taskId: await idOf('/api/tasks', { title: name }),
    promptId: await idOf('/api/prompt-registry', { name, category: 'tool', content: 'Do it' }),
    skillId: await idOf('/api/shared-resources', { name, type: 'skill', content: 'sudo make it' }),
  };
}

/** A request that makes something, by its operation: the path and a body, of which there are no two alike. */
export const creates: Record<string, (subjects: Subjects) => [path: string, body: object]> = {
  createTask: () => ['/api/tasks', { title: 'Made once', subtasks: [{ title: 'Step', completed: false }] }],
  createBacklogTask: () => ['/api/backlog', { title: 'Planned once' }],
  addComment: ({ taskId }) => [`/api/tasks/${taskId}/comments`, { text: 'Said once, @reviewer' }],
  addLineComment: ({ taskId }) => [`/api/diff/${taskId}/comments`, { path: 'a.ts', line: 3, body: 'Once' }],
  addSubtask: ({ taskId }) => [`/api/tasks/${taskId}/subtasks`, { title: 'One step' }],
  addVerificationStep: ({ taskId }) => [`/api/tasks/${taskId}/verification`, { description: 'Look once' }],
  addObservation: ({ taskId }) => [`/api/tasks/${taskId}/observations`, { type: 'insight', content: 'Seen once' }],
  addTaskDeliverable: ({ taskId }) => [`/api/tasks/${taskId}/deliverables`, { title: 'Report' }],
  createWorkProduct: ({ taskId }) => ['/api/work-products', { taskId, title: 'Found once', content: 'Once' }],
  createTaskWorkProduct: ({ taskId }) => [`/api/tasks/${taskId}/work-products`, { title: 'Kept once', content: 'x' }],
  createWorkflow: () => [
    '/api/workflows',
    { id: 'made-once', name: 'Once', agents: [{ id: 'a' }], steps: [{ id: 'one', type: 'gate' }] },
  ],
  createWorkspace: () => ['/api/identity/workspaces', { name: 'Made once' }],
  createProject: () => ['/api/projects', { label: 'Once' }],
  createSprint: () => ['/api/sprints', { label: 'Once' }],
  createTaskType: () => ['/api/task-types', { label: 'Once' }],
  createTemplate: () => ['/api/templates', { name: 'Bug', taskDefaults: {} }],
  createBroadcast: () => ['/api/broadcasts', { message: 'Hear this once' }],
  createNotification: () => ['/api/notifications', { message: 'Know this once' }],
  processMentions: ({ taskId }) => ['/api/notifications/process', { taskId, content: 'Ask @alice and @bob' }],
  addSquadMessage: () => ['/api/chat/squad', { message: 'Once, @carol' }],
  reportDelegationViolation: ({ taskId }) => ['/api/agent/status/delegation-violation', { rule: 'no chains', taskId }],
  sendChatMessage: () => ['/api/chat/send', { message: 'Hello once' }],
  addDecision: () => ['/api/decisions', { decision: 'This way', confidence: 0.5, agent: 'decider' }],
  createGoal: ({ taskId }) => ['/api/goals', { ...aGoal(taskId), objective: 'Reached once' }],
  startDecisionReview: ({ taskId }) => [
    '/api/decisions/reviews',
    {
      ...{ taskId, title: 'Once', prompt: 'Which way, once?', context: 'Known once' },
      participants: [
        { id: 'ada', label: 'Once' },
        { id: 'bob', label: 'Twice' },
      ],
    },
  ],
  createCeremony: () => ['/api/ceremonies', { kind: 'design_review', target: { prUrl: 'https://example.org/1' } }],
  giveFeedback: () => ['/api/feedback', { content: 'Good', sentiment: 'positive' }],
  submitError: () => ['/api/errors/submit', { errorMessage: 'It broke once' }],
  proposeReflection: () => [
    '/api/reflections',
    {
      category: 'session',
      promotionTarget: 'handbook',
      confidence: 0.5,
      source: { kind: 'error' },
      summary: 'Learnt once',
    },
  ],
  generateReport: () => ['/api/reports/generate', { title: 'Once', template: 'custom', content: 'Made once' }],
  createSharedResource: () => ['/api/shared-resources', { name: 'Shared', type: 'prompt', content: 'Do it' }],
  createSkillCapabilityTask: ({ skillId }) => [`/api/skills/capabilities/${skillId}/remediation-task`, {}],
  createSkillSecurityTask: ({ skillId }) => [`/api/skills/security/inventory/${skillId}/remediation-task`, {}],
  exceptSkill: ({ skillId }) => [
    `/api/skills/security/inventory/${skillId}/exceptions`,
    { owner: 'ada', reason: 'Once', expiresAt: new Date(Date.now() + 86_400_000).toISOString() },
  ],
  trackDocument: () => ['/api/doc-freshness', { path: 'docs/once.md', type: 'runbook', maxAgeDays: 30 }],
  createScoringProfile: () => [
    '/api/scoring/profiles',
    {
      name: 'Once',
      compositeMethod: 'minimum',
      scorers: [{ id: 'tests', type: 'KeywordContains', name: 'tests', weight: 1, keywords: ['test'] }],
    },
  ],
  createPolicy: () => [
    '/api/policies',
    {
      id: 'once',
      type: 'block-action-type',
      name: 'Once',
      enabled: false,
      responseAction: 'block',
      config: { actionTypes: ['merge'] },
    },
  ],
  createToolPolicy: () => ['/api/tool-policies', { role: 'once', allowed: ['*'], denied: [], description: 'Once' }],
  createAgentPermission: () => ['/api/agents/permissions', { agentId: 'once' }],
  requestPermissionApproval: () => ['/api/agents/permissions/approvals', { agentId: 'once', action: 'merge' }],
  createSandboxPreset: () => ['/api/sandbox-policies', { id: 'once', name: 'Once' }],
  addAgentFromPreset: () => ['/api/config/agents/from-preset', { preset: 'gemini', type: 'once' }],
  createToolServer: () => [
    '/api/tool-servers',
    { displayName: 'Once', transport: { kind: 'stdio', command: 'server' } },
  ],
  createPrompt: () => ['/api/prompt-registry', { name: 'Once', category: 'agent', content: 'Do {{it}}' }],
  recordPromptUsage: ({ promptId }) => [`/api/prompt-registry/${promptId}/record-usage`, { model: 'once' }],
  createTransitionRule: () => [
    '/api/settings/transition-hooks/rules',
    { name: 'Once', from: 'todo', to: 'done', gates: ['require-plan'] },
  ],
  createHook: () => [
    '/api/hooks',
    { name: 'Once', event: 'task.created', action: 'webhook', config: { url: 'https://example.org/once' } },
  ],
  trustWorkspace: () => [
    '/api/workspace-capabilities/trusted',
    { workspaceId: 'peer', name: 'Peer', capabilities: [] },
  ],
  reportTelemetry: ({ taskId }) => ['/api/telemetry/events', { type: 'task.created', taskId }],
  reportTelemetryBulk: ({ taskId }) => ['/api/telemetry/events/bulk', { events: [{ type: 'task.created', taskId }] }],
};

/** Creates that need a worker, with the rule by which each is done once. */
export const elsewhere: Record<string, string> = {
  launchRunChild: 'its own key, which is the attempt',
  continueConversation: 'its own key, which is the attempt',
  startWorkflowStep: 'its own key, which is the attempt',
  startRun: 'its own key, which is the attempt',
  distillTemplate: 'the key, and one template of one id; needs an ended run',
  startFreshConversation: 'its own key, which is the attempt',
  forkConversation: 'its own key, which is the attempt',
  resumeConversation: 'its own key, which is the attempt',
  followUpConversation: 'its own key, which is the attempt',
  sendLineComments: 'its own key, which is the attempt',
  sendBackReview: 'its own key, which is the attempt',
  reportRunTokens: 'its own key, under which usage is counted once',
  renewCallbackSecret: 'a secret is stored nowhere, so each request makes another one',
  createInvitation: 'a token is stored nowhere, and an address has one pending invitation',
  createApiToken: 'a token is stored nowhere, and a name has one',
  createPairingCode: 'a code is stored nowhere, and expires in minutes',
  acceptInvitationAsNewUser: 'the token, which makes one member; a repetition gets the same response',
  exchangePairingCode: 'the code and the nonce, which make one session; a repetition gets the same response',
  transitionRunPhase: 'the key, and operationId in its body',
  decideWorkspaceTrust: 'the key, and the number of the decision it follows',
  revokeWorkspaceTrust: 'the key, and the number of the decision it follows',
  createPullRequest: 'the key, and one open pull request for each branch',
  createTrackerWorkItem: 'the key, and one work item for each task and profile',
  createWorktree: 'the key, and one worktree for each task',
  rollOverGoal: 'the key, and one planned continuation for each goal',
  addRepository: 'the key, and its name; a host reads its settings first',
  registerAgent: 'the key, and the id that it names: a repetition announces it again',
  addAttachments: 'the key; its body is a form',
  createScheduledDeliverable: 'the key, and its id; Temporal reads its times first',
  reportScheduledDeliverableRun: 'the key, and its id; the run that is due, once',
  startWorkflowRun: 'the key, and its id; one that is started twice has one workflow',
  resumeWorkflowRun: 'the key, and its id; needs a failed run',
  createScheduledLaunch: 'the key, and its id; Temporal reads its schedule first',
};
