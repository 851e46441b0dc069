import { roleOfGroups } from './group-role';

describe('the role of groups', () => {
  const ordered = [
    { group: 'ops', role: 'admin' },
    { group: 'dev', role: 'agent' },
    { group: 'all', role: 'read-only' },
  ] as const;

  it.each<[string[], string | undefined]>([
    [['all', 'dev'], 'agent'],
    [['ops', 'all', 'dev'], 'admin'],
    [['all'], 'read-only'],
    [['OPS'], undefined],
    [['ops '], undefined],
    [[], undefined],
  ])('is decided by the first entry that matches: %j', (groups, role) =>
    expect(roleOfGroups(groups, { ordered })).toBe(role),
  );

  it('is the fallback for everyone else', () => {
    expect(roleOfGroups(['x'], { ordered, fallback: 'read-only' })).toBe('read-only');
    expect(roleOfGroups(['ops'], { ordered, fallback: 'read-only' })).toBe('admin');
  });
});
