import type { AgentLevel, AgentPermission, PermissionApproval } from '../../contracts/governance/agent-permission';
import { capabilitiesOf } from '../../stores/governance/agent-permission-store';
import { decidePermission } from './agent-permission';

const agent = (level: AgentLevel, fields: Partial<AgentPermission> = {}): AgentPermission => ({
  agentId: 'bee',
  level,
  ...capabilitiesOf(level),
  trustedDomains: [],
  restrictions: [],
  revision: 1,
  ...fields,
});
const approval: PermissionApproval = {
  id: 'approval_000000000000',
  agentId: 'bee',
  action: 'delegate',
  status: 'approved',
  requestedBy: 'agent:bee',
  createdAt: '2026-11-22T00:00:00.000Z',
};

describe('agent permission decision', () => {
  it.each<[AgentLevel, string, boolean, boolean]>([
    ['intern', 'create-task', false, true],
    ['intern', 'create_task', false, true],
    ['intern', 'delegate', false, true],
    ['intern', 'approve', false, true],
    ['intern', 'complete-task', false, true],
    ['intern', 'comment', true, false],
    ['specialist', 'create-task', true, false],
    ['specialist', 'delegate', false, false],
    ['specialist', 'approve', false, false],
    ['specialist', 'complete-task', true, false],
    ['lead', 'create-task', true, false],
    ['lead', 'delegate', true, false],
    ['lead', 'approve', true, false],
  ])('%s, %s: allowed %s, approval %s', (level, action, allowed, requiresApproval) => {
    expect(decidePermission(agent(level), action)).toMatchObject({ allowed, requiresApproval });
  });

  it('goes by what is set rather than by the level', () => {
    expect(decidePermission(agent('intern', { canCreateTasks: true }), 'create-task').allowed).toBe(true);
    expect(decidePermission(agent('lead', { canDelegate: false }), 'delegate').allowed).toBe(false);
  });

  it('is not evaded by another way to write an action', () => {
    const restricted = agent('lead', { restrictions: ['create-*'] });
    for (const action of ['create-task', 'create_task', 'Create_Task']) {
      expect(decidePermission(restricted, action)).toMatchObject({ allowed: false, rule: 'restriction' });
    }
  });

  it.each<[string, Partial<PermissionApproval>, boolean]>([
    ['of it', {}, true],
    ['that is pending', { status: 'pending' }, false],
    ['that was refused', { status: 'rejected' }, false],
    ['of another action', { action: 'approve' }, false],
    ['of another agent', { agentId: 'wasp' }, false],
  ])('with an approval %s', (_case, fields, allowed) => {
    expect(decidePermission(agent('intern'), 'delegate', { approval: { ...approval, ...fields } }).allowed).toBe(
      allowed,
    );
  });

  it('is never allowed by an approval when it is restricted', () => {
    const restricted = agent('intern', { restrictions: ['delegate'] });
    expect(decidePermission(restricted, 'delegate', { approval })).toMatchObject({
      allowed: false,
      requiresApproval: false,
    });
  });
});
