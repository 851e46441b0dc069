import { displayNameOf, groupsOf, isOfDomain } from './claims';

describe('claims about a person', () => {
  it.each<[string, Record<string, unknown>, string[] | undefined]>([
    ['groups', { groups: ['a', 'b'] }, ['a', 'b']],
    ['groups', { groups: 'a' }, ['a']],
    ['groups', { groups: ['a', 1, { b: 1 }] }, ['a']],
    ['groups', {}, undefined],
    ['groups', { groups: { a: true } }, undefined],
    ['realm_access.roles', { realm_access: { roles: ['a'] } }, ['a']],
    ['https://example.org/groups', { 'https://example.org/groups': ['a'] }, ['a']],
    ['constructor.name', {}, undefined],
  ])('have groups in %s of %j', (name, claims, groups) => expect(groupsOf(claims, name)).toEqual(groups));

  it('have a name, or what stands for it', () => {
    expect(displayNameOf({ name: ' Ann ', email: 'a@b.example' }, 's')).toBe('Ann');
    expect(displayNameOf({ name: ' ', email: 'a@b.example' }, 's')).toBe('a@b.example');
    expect(displayNameOf({ name: 5, preferred_username: ['x'] }, 's')).toBe('s');
  });

  it.each<[Record<string, unknown>, boolean]>([
    [{ email: 'ann@corp.example', email_verified: true }, true],
    [{ email: 'ann@CORP.example', email_verified: true }, true],
    [{ email: 'ann@corp.example' }, false],
    [{ email: 'ann@corp.example', email_verified: 'true' }, false],
    [{ email: 'ann@corp.example.evil.example', email_verified: true }, false],
    [{ email: '"ann@corp.example"@evil.example', email_verified: true }, false],
    [{}, false],
  ])('%j are of an allowed domain: %s', (claims, isAllowed) => {
    expect(isOfDomain(claims, ['corp.example'])).toBe(isAllowed);
    expect(isOfDomain(claims, [])).toBe(true);
  });
});
