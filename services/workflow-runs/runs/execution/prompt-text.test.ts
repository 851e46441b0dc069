import { fillIn } from './prompt-text';

describe('prompt text', () => {
  it('has its values by names of any script, however their letters are composed', () => {
    expect(
      fillIn('$goal: ${\u0434\u0430_output}, ${e\u0301_output}, ${none}, $$', 'Ship', {
        да_output: 1,
        '\u00e9_output': 'x',
      }),
    ).toBe('Ship: 1, x, , $');
  });
});
