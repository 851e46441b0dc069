import type { PermissionApproval } from '../../contracts/governance/agent-permission';
import type { Delegation } from '../../contracts/governance/delegation';
import { aTask } from '../../test/support/factories/task';
import { isActive, outsideReason, scopeFactsOf, undelegatedReason } from './scope';

const delegation = (fields: Partial<Delegation> = {}): Delegation => ({
  id: 'delegation_1',
  delegateAgent: 'deputy',
  expires: '2026-01-02T00:00:00.000Z',
  scope: { type: 'all' },
  createdBy: 'ada',
  setBy: 'user:ada',
  createdAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});
const request = (fields: Partial<PermissionApproval> = {}): PermissionApproval => ({
  id: 'approval_0123456789ab',
  agentId: 'bee',
  action: 'merge',
  status: 'pending',
  requestedBy: 'agent:bee',
  createdAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});

describe('the scope of a delegation', () => {
  it.each<[string, Partial<Delegation>, Parameters<typeof aTask>[0], boolean]>([
    ['all', {}, {}, true],
    ['a project', { scope: { type: 'project', projectIds: ['shop'] } }, { project: 'shop' }, true],
    ['another project', { scope: { type: 'project', projectIds: ['shop'] } }, { project: 'farm' }, false],
    ['no project', { scope: { type: 'project', projectIds: ['shop'] } }, {}, false],
    ['a priority', { scope: { type: 'priority', priorities: ['low'] } }, { priority: 'low' }, true],
    ['another priority', { scope: { type: 'priority', priorities: ['low'] } }, { priority: 'high' }, false],
    ['an excluded priority', { excludePriorities: ['high'] }, { priority: 'high' }, false],
    ['a tag of the file that is excluded', { excludeTags: ['Legal'] }, { tags: ['legal'] }, false],
    ['a tag of lessons that is excluded', { excludeTags: ['legal'] }, { lessonTags: ['legal'] }, false],
    ['other tags', { excludeTags: ['legal'] }, { tags: ['design', 7], lessonTags: ['ci'] }, true],
  ])('of %s', (_case, fields, task, within) => {
    expect(outsideReason(delegation(fields), scopeFactsOf(aTask(task))) === undefined).toBe(within);
  });

  it.each<[string, Partial<PermissionApproval>]>([
    ['of the delegate', { agentId: 'deputy' }],
    ['that the delegate made for another', { requestedBy: 'agent:deputy' }],
    ['of a critical action', { action: 'force' }],
    ['of a critical action in other letters', { action: 'FORCE' }],
  ])('has no request %s', (_case, fields) => {
    expect(undelegatedReason(delegation(), request(fields))).toEqual(expect.any(String));
  });

  it('has requests of others, also of actions that the board does not know', () => {
    expect(undelegatedReason(delegation(), request())).toBeUndefined();
    expect(undelegatedReason(delegation(), request({ action: 'sing' }))).toBeUndefined();
  });

  it('ends at the moment of its expiry', () => {
    expect(isActive(delegation(), new Date('2026-01-01T23:59:59.999Z'))).toBe(true);
    expect(isActive(delegation(), new Date('2026-01-02T00:00:00.000Z'))).toBe(false);
    expect(isActive(null, new Date(0))).toBe(false);
  });
});
