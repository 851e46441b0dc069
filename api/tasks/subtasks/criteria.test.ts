import { withCriteria, withCriterionToggled } from './criteria';

describe('acceptance criteria', () => {
  it('keeps the states of criteria that stay, wherever they are in the list now', () => {
    const before = { acceptanceCriteria: ['a', 'b', 'b', 'c'], criteriaChecked: [true, false, true, true] };
    expect(withCriteria(before, ['c', 'b', 'b', 'new', 'b'])).toEqual({
      acceptanceCriteria: ['c', 'b', 'b', 'new', 'b'],
      criteriaChecked: [true, false, true, false, false],
    });
  });

  it.each([
    ['left out', undefined, [false, true]],
    ['too short', [true], [true, true]],
    ['too long', [true, true, true], [true, false]],
  ])('fits a list of states that is %s when a criterion is toggled', (_case, criteriaChecked, expected) => {
    const toggled = withCriterionToggled({ acceptanceCriteria: ['a', 'b'], criteriaChecked }, 1);
    expect(toggled.criteriaChecked).toEqual(expected);
  });

  it('refuses a criterion that is not there', () => {
    expect(() => withCriterionToggled({ acceptanceCriteria: ['a'] }, 1)).toThrow(
      expect.objectContaining({ status: 404 }),
    );
    expect(() => withCriterionToggled({}, 0)).toThrow(expect.objectContaining({ status: 404 }));
  });
});
