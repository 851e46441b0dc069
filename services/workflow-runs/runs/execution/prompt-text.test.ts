import { filledArguments, fillIn } from './prompt-text';

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

describe('the arguments of a tool', () => {
  const values = { n: 3, list: [1, { a: 'x' }], text: '"}, "more": "' };

  it('are values of their own type where a text is nothing else, and texts where it is more', () => {
    const template = { whole: '${n}', part: 'n=${n}', deep: { items: ['${list.1.a}', '${list}', '${none}', true] } };
    expect(filledArguments(template, 'Ship', values)).toEqual({
      ...{ whole: 3, part: 'n=3', deep: { items: ['x', [1, { a: 'x' }], null, true] } },
    });
  });

  it('lack a field whose value is not there, and no value adds one', () => {
    const template = { lost: '${none}', goal: '${goal}', quoted: 'a ${text}', own: '${text}' };
    expect(filledArguments(template, 'Ship', values)).toEqual({
      ...{ goal: 'Ship', quoted: `a ${values.text}`, own: values.text },
    });
  });
});
