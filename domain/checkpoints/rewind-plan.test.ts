import type { AttributedChange } from '../../contracts/runs/checkpoint';
import { ownersOf, planRewind, rewindIdOf } from './rewind-plan';

const change = (path: string, attribution: AttributedChange['attribution'], conflict = false): AttributedChange => ({
  path,
  status: 'modified',
  attribution,
  conflict,
});

const owners = ownersOf(
  [
    { changes: [change('agent', 'agent'), change('mixed', 'agent'), change('person', 'unknown')] },
    { changes: [change('agent', 'agent'), change('mixed', 'operator'), change('after', 'agent')] },
  ],
  ['after', 'new'],
);

describe('rewind plan', () => {
  test('a path is the agent’s only when every change of it was', () => {
    expect(Object.fromEntries(owners)).toEqual({
      agent: { attribution: 'agent', conflict: false },
      mixed: { attribution: 'operator', conflict: true },
      person: { attribution: 'unknown', conflict: false },
      after: { attribution: 'unknown', conflict: true },
      new: { attribution: 'unknown', conflict: false },
    });
  });

  test('what is not only the agent’s needs a decision; what is not listed belongs to neither', () => {
    const plan = planRewind(['agent', 'mixed', 'person', 'unlisted'], owners, new Map([['person', 'reject']]));
    expect('unresolved' in plan && plan.unresolved.map(({ path }) => path)).toEqual(['mixed', 'unlisted']);
  });

  test('decided paths are as they were decided, the agent’s go back', () => {
    const plan = planRewind(['agent', 'mixed'], owners, new Map([['mixed', 'leave-untouched']]));
    expect(plan).toMatchObject({
      paths: [
        { path: 'agent', decision: 'accept' },
        { path: 'mixed', decision: 'leave-untouched', conflict: true },
      ],
    });
  });

  test('a decision about a path that would not change is a mistake', () => {
    expect(planRewind(['agent'], owners, new Map([['other', 'accept']]))).toEqual({ unknown: ['other'] });
  });

  test('the id follows from attempt and request', () => {
    expect(rewindIdOf('attempt_12345678', 'request-1')).toMatch(/^rewind_[0-9a-f]{24}$/);
    expect(rewindIdOf('attempt_12345678', 'request-2')).not.toBe(rewindIdOf('attempt_12345678', 'request-1'));
  });
});
