import { has, type Remedy } from './remedy';

/** Refusals of the decision point: a rule forbids the action, or wants an approval of it. */
export const ruleRemedies: Record<string, Remedy> = {
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
};
