/** The names under which what was read is cached; the feed changes it by the same names. */
export const keys = {
  auth: ['auth'],
  tasks: ['tasks'],
  agentStatus: ['agent-status'],
  approvals: ['approvals'],
  queue: ['queue'],
  squad: ['squad'],
  agents: ['config', 'agents'],
  repos: ['config', 'repos'],
  presets: ['config', 'presets'],
  support: ['config', 'support'],
  hosts: ['hosts'],
  task: (taskId: string) => ['task', taskId],
  /** What belongs to a task and changes with it. */
  ofTask: (taskId: string) => ['of-task', taskId],
  run: (taskId: string) => ['of-task', taskId, 'run'],
  attempts: (taskId: string) => ['of-task', taskId, 'attempts'],
  attempt: (taskId: string, attemptId: string) => ['of-task', taskId, 'attempt', attemptId],
  dependencies: (taskId: string) => ['of-task', taskId, 'dependencies'],
  review: (taskId: string) => ['of-task', taskId, 'review'],
  diff: (taskId: string) => ['diff', taskId],
  lineComments: (taskId: string) => ['of-task', taskId, 'line-comments'],
} as const satisfies Record<string, readonly string[] | ((...ids: string[]) => readonly string[])>;
