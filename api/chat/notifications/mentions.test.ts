import fc from 'fast-check';
import { mentionsIn } from './mentions';

describe('mentions in a text', () => {
  it.each([
    ['hello @ada and @bob-2, @ada again', ['ada', 'bob-2']],
    ['ask @ada.', ['ada']],
    ['(@ada)', ['ada']],
    ['mail ada@example.com or x/@y', []],
    ['@', []],
    ['@@ada', []],
    ['@v1.2_beta-- is a name', ['v1.2_beta']],
  ])('finds in %j %j', (text, targets) => {
    expect(mentionsIn(text).map(({ target }) => target)).toEqual(targets);
  });

  it('knows the owner and the roles', () => {
    expect(mentionsIn('@owner @admin @read-only @bee').map(({ kind }) => kind)).toEqual([
      'owner',
      'role',
      'role',
      'agent',
    ]);
  });

  it('finds every name that is called, each once, and at most fifty', () => {
    const name = fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?$/);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 80 }), (names) => {
        const found = mentionsIn(names.map((each) => `@${each},`).join(' ')).map(({ target }) => target);
        expect(found).toEqual([...new Set(names)].slice(0, 50));
      }),
    );
  });

  it('is quick on any text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 5000 }), (text) => void mentionsIn(text)));
  });
});
