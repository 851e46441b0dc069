import fc from 'fast-check';
import { promptLimits } from '../../contracts/knowledge/prompt';
import { renderPrompt, variablesOf } from './render';

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,10}$/);
/** Text that begins no variable and ends none. */
const plain = fc.string({ maxLength: 40 }).map((text) => text.replace(/[{}]/g, ''));
/** Values that would do harm where they were read as a pattern, a template or a path of an object. */
const hostile = fc.oneof(
  fc.constantFrom('$&', '$1', "$'", '{{x}}', '__proto__', '\\1', '\u0000'),
  fc.string({ maxLength: 30 }),
);

describe('rendering a prompt', () => {
  it('names each variable once, in order, with or without spaces', () => {
    expect(variablesOf('{{b}} {{ a }} {{b}} {{1}} {{}} { {c} } {{d e}} {{{f}}}')).toEqual(['b', 'a', 'f']);
  });

  it('puts every value where its variable is, as it is', () => {
    const parts = fc.array(fc.tuple(plain, name, hostile), { maxLength: 12 });
    fc.assert(
      fc.property(parts, plain, (each, end) => {
        const values = Object.fromEntries(each.map(([, variable, value]) => [variable, value]));
        const content = each.map(([before, variable]) => `${before}{{${variable}}}`).join('') + end;
        const expected = each.map(([before, variable]) => before + values[variable]).join('') + end;
        expect(renderPrompt(content, values)).toEqual({
          renderedPrompt: expected,
          unmatchedVariables: [],
          unusedVariables: [],
        });
      }),
    );
  });

  it('leaves every text as it is without values, and names what is missing', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', ' ', 'a', '$', '_'), maxLength: 200 }), (content) => {
        expect(renderPrompt(content, {})).toMatchObject({
          renderedPrompt: content,
          unmatchedVariables: variablesOf(content),
        });
      }),
    );
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'knows no value of %s but one that was sent',
    (inherited) => {
      expect(renderPrompt(`{{${inherited}}}`, {})).toMatchObject({
        renderedPrompt: `{{${inherited}}}`,
        unmatchedVariables: [inherited],
      });
      const sent = JSON.parse(`{"${inherited}": "x"}`) as Record<string, string>;
      expect(renderPrompt(`{{${inherited}}}`, sent)).toMatchObject({ renderedPrompt: 'x' });
    },
  );

  it('names values without a variable, and renders numbers and booleans', () => {
    expect(renderPrompt('{{a}}{{b}}', { a: 1, b: false, c: 'x' })).toEqual({
      ...{ renderedPrompt: '1false', unmatchedVariables: [], unusedVariables: ['c'] },
    });
  });

  it('refuses a result that is too long before it makes it', () => {
    const value = 'x'.repeat(promptLimits.value);
    const fitting = Math.floor(promptLimits.rendered / promptLimits.value);
    expect(renderPrompt('{{a}}'.repeat(fitting), { a: value })?.renderedPrompt).toHaveLength(fitting * value.length);
    expect(renderPrompt('{{a}}'.repeat(fitting + 1), { a: value })).toBeUndefined();
    expect(renderPrompt('{{a}}'.repeat(promptLimits.content / 5), { a: value })).toBeUndefined();
  });

  it.each(['{{', '{{ ', '{{a', '{{a ', '{'])('reads the longest prompt of %j only', (unit) => {
    const content = unit.repeat(promptLimits.content / unit.length);
    expect(renderPrompt(content, {})).toMatchObject({ renderedPrompt: content, unmatchedVariables: [] });
  });
});
