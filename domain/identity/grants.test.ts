import { permission, rolePermissions } from '../../contracts/permissions';
import { approvedPermissions, authorityOf } from './grants';
import { approvedTerms } from './pairing';

describe('what a credential may do', () => {
  it('is what it was approved for while its member may do that', () => {
    expect(authorityOf({ role: 'agent', memberRole: 'admin' })).toEqual({
      role: 'agent',
      permissions: permission.options.filter((one) => rolePermissions.agent.includes(one)),
    });
    const scoped = authorityOf({ role: 'admin', scopes: ['task:read', 'settings:write'], memberRole: 'admin' });
    expect(scoped).toEqual({ role: 'admin', permissions: ['task:read', 'settings:write'] });
  });

  it.each([
    ['admin', 'agent', 'agent', ['task:read', 'task:write']],
    ['admin', 'read-only', 'read-only', ['task:read']],
    ['agent', 'read-only', 'read-only', ['task:read']],
  ] as const)(
    'is less for an approved %s whose member is %s now, with the reason',
    (role, memberRole, left, permissions) => {
      const scopes = ['task:read', 'task:write', 'settings:write'] as const;
      expect(authorityOf({ role, scopes, memberRole })).toEqual({
        role: left,
        permissions,
        degradedReason: expect.stringContaining(`is ${memberRole} now`),
      });
    },
  );

  it('is never what the role of its member does not permit, also where it ranks lower', () => {
    const { role, permissions, degradedReason } = authorityOf({ role: 'read-only', memberRole: 'agent' });
    expect(role).toBe('read-only');
    expect(permissions.filter((one) => !rolePermissions.agent.includes(one))).toEqual([]);
    expect(degradedReason).toBeDefined();
  });

  it('has a reason when the role is lower though each permission remains', () => {
    expect(authorityOf({ role: 'agent', scopes: ['task:read'], memberRole: 'read-only' })).toMatchObject({
      role: 'read-only',
      permissions: ['task:read'],
      degradedReason: expect.any(String),
    });
  });

  it('is never more than the permissions of its role', () => {
    expect(approvedPermissions('read-only', ['task:read', 'task:write'])).toEqual(['task:read']);
  });
});

describe('what a device is approved for', () => {
  it('is in the code, in the request and in both roles', () => {
    const offered = {
      role: 'agent' as const,
      scopes: ['task:read', 'task:write', 'agent:read'] as const,
      capabilities: ['push', 'agent:run:local'],
    };
    const requested = {
      role: 'read-only' as const,
      scopes: ['task:read', 'task:write', 'telemetry:read'] as const,
      capabilities: ['push', 'camera', 'push'],
    };
    expect(approvedTerms({ offered, requested })).toEqual({ scopes: ['task:read'], capabilities: ['push'] });
  });
});
