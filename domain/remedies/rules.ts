import { has, type Remedy, type Step } from './remedy';

const goal: Step = { call: 'GET /api/goals/:goalId', remedy: 'Read the goal.', ids: { goalId: ['goalId'] } };

/** Refusals of the decision point: a rule forbids the action, or wants an approval of it. */
export const ruleRemedies: Record<string, Remedy> = {
  SKILL_BLOCKED: [
    {
      call: 'POST /api/skills/security/inventory/:skillId/exceptions',
      remedy: 'Fix what a scan finds, or have an administrator review an exception.',
      ids: { skillId: ['resourceId'] },
    },
  ],
  POLICY_BLOCKED: [
    {
      call: 'GET /api/policies/:id',
      remedy: 'Read the policy; an administrator can change it or turn it off.',
      ids: { id: ['policy'] },
      when: has('policy'),
    },
    {
      call: 'GET /api/agents/permissions/:id',
      remedy: 'Read what the agent may do; an administrator can change it.',
      ids: { id: ['agent'] },
      when: has('agent'),
    },
    {
      call: 'GET /api/governance/traces/:id',
      remedy: 'Read which rules were evaluated.',
      ids: { id: ['traceId'] },
    },
  ],
  APPROVAL_REQUIRED: [
    {
      call: 'POST /api/agents/permissions/approvals/:id',
      remedy: 'An administrator reviews the approval; then repeat the request.',
      ids: { id: ['approval.id'] },
    },
  ],
  GOAL_TERMINAL: [{ call: 'POST /api/goals', remedy: 'Create another goal.' }, goal],
  GOAL_FULL: [{ call: 'POST /api/goals', remedy: 'End this goal, and create another one for the rest.' }, goal],
  GOAL_BUDGET_REACHED: [{ ...goal, remedy: 'Read what the goal has used; create another one with a greater budget.' }],
  GOAL_RUN_LINKED: [{ ...goal, remedy: 'Read the goal that has the run.' }],
  GOAL_NOT_CONTINUABLE: [{ ...goal, remedy: 'Read the state of the goal and of its runs.' }],
};
