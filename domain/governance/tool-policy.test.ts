import { decideTool } from './tool-policy';

describe('tool policy decision', () => {
  it.each([
    ['nothing allows it', [], [], false],
    ['its name is allowed', ['read'], [], true],
    ['everything is allowed', ['*'], [], true],
    ['it is denied by name though everything is allowed', ['*'], ['read'], false],
    ['it is denied by its beginning though its name is allowed', ['read'], ['re*'], false],
    ['everything is denied', ['*'], ['*'], false],
    ['another one is denied', ['*'], ['reader'], true],
  ])('when %s', (_case, allowed, denied, expected) => {
    expect(decideTool({ allowed, denied }, 'read').allowed).toBe(expected);
  });

  it('reports what it evaluated: no allowing rule counts once it is denied', () => {
    const { rules } = decideTool({ allowed: ['*'], denied: ['write', 'read'] }, 'read');
    expect(rules.map(({ id, status, outcome }) => [id, status, outcome])).toEqual([
      ['denied.0', 'not-matched', undefined],
      ['denied.1', 'matched', 'blocked'],
      ['allowed.0', 'skipped', undefined],
    ]);
  });
});
