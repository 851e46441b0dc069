import fc from 'fast-check';
import { holds, parseCondition } from './condition';

const values = {
  outcome: 'fail',
  test_exit_code: 3,
  review_output: { approved: true, score: 0.5, notes: [{ text: 'LGTM' }], none: null },
  last_output: 'looks fine',
  empty: '',
  chosen_answer: ['ab', 'c d', 7, null],
  tiny: { p: 1e-7, printed: '1e-07\n', huge: -1.5e21, none: '1e' },
};
const ofText = (text: string): boolean | undefined => {
  const condition = parseCondition(text);
  return condition && holds(condition, values);
};

describe('a condition', () => {
  it.each([
    ['outcome=fail', true],
    ['outcome = "success"', false],
    ['outcome!=success && last_output contains fine', true],
    ['outcome=success || test_exit_code=3', true],
    ['outcome=success || outcome=fail && test_exit_code>3', false],
    ['(outcome=success || outcome=fail) && !(test_exit_code>3)', true],
    ['test_exit_code >= 3 && test_exit_code <= 3 && test_exit_code < 4 && test_exit_code > -1', true],
    ['review_output.score > 0.25', true],
    ['review_output.approved', true],
    ['!review_output.none && !empty && !missing && !missing.field', true],
    ['review_output.notes.0.text=LGTM', true],
    ['review_output.notes.length=1', true],
    ['tiny.p < 0.05 && tiny.p > 0', true],
    ['tiny.printed < 0.05', true],
    ['tiny.huge < -1000', true],
    ['tiny.none > 0 || tiny.none <= 0', false],
    ['last_output > 1', false],
    ['missing < 1', false],
    ['toString', false],
    ['review_output.constructor', false],
    ['review_output.__proto__', false],
    ['last_output contains "fine"', true],
    ['chosen_answer contains ab', true],
    ['chosen_answer contains "c d" && chosen_answer contains 7', true],
    ['chosen_answer contains a', false],
    ['chosen_answer.0 contains a', true],
    ['review_output.notes contains LGTM', true],
  ])('%s is %s', (text, expected) => {
    expect(ofText(text)).toBe(expected);
  });

  it('has no number with an exponent for a run that began without', () => {
    const condition = parseCondition('tiny.p < 0.05')!;
    expect(holds(condition, values, { exponents: () => false, items: () => true })).toBe(false);
  });

  it('compares the text of a list for a run that began without', () => {
    const condition = parseCondition('chosen_answer contains a')!;
    expect(holds(condition, values, { exponents: () => true, items: () => false })).toBe(true);
  });

  it.each([
    '',
    '&&',
    'a &&',
    'a || || b',
    '(a',
    'a)',
    'a=',
    'a < b',
    'a < "2x"',
    'a = b c',
    '"a"=b',
    'a.=1',
    '!',
    'a == b',
    'a contains',
    `${'('.repeat(21)}a${')'.repeat(21)}`,
    `${'!'.repeat(22)}a`,
    `a=${'b'.repeat(10_000)}`,
  ])('%j is refused', (text) => {
    expect(parseCondition(text)).toBeUndefined();
  });

  it('is stored as earlier versions stored it while it only joins comparisons', () => {
    expect(parseCondition('a=1 && b!="x y"')).toEqual([
      { name: 'a', operator: '=', value: '1' },
      { name: 'b', operator: '!=', value: 'x y' },
    ]);
  });

  it('is read or refused whatever it is made of', () => {
    const part = fc.constantFrom('a', '.b', '=', '!=', '<', '&&', '||', '!', '(', ')', '"x"', ' ', '1', 'contains');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const read = parseCondition(parts.join(''));
        expect(read === undefined || typeof holds(read, values) === 'boolean').toBe(true);
      }),
    );
  });
});
