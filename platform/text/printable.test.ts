import fc from 'fast-check';
import { printable } from './printable';

describe('printable text', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a title of the window', 'a\u001b]0;owned\u0007b', 'ab'],
    ['a link, ended by ST', '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['a write to the clipboard', '\u001b]52;c;cm0gLXJmIC8=\u0007ok', 'ok'],
    ['a device control string', '\u001bP$q"p\u001b\\x', 'x'],
    ['C1 controls', '\u009b2Jgone\u009d0;title\u009cend', 'goneend'],
    ['a cursor that moves back', 'yes\b\b\bno ', 'yesno '],
    ['a reset, and a character set', '\u001bcnew\u001b(B', 'new'],
    ['an escape that is cut', 'end\u001b', 'end'],
    ['a sequence that is cut', 'end\u001b[38;5', 'end'],
    ['a direction override', 'invoice\u202Egpj.exe\u202C', 'invoicegpj.exe'],
    ['isolates and marks', '\u2067a\u2069\u200Fb\u061C', 'ab'],
    ['line ends', 'a\r\nb\rc\td', 'a\nb\nc\td'],
  ])('has no %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('keeps every other character, and shows the same when it is cleaned again', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('\u001b', '[', ']', 'm', '\u0007', '\\', 'ä', '漢', '\n') }),
        (text) => {
          const shown = printable(text);
          expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
          expect(printable(shown)).toBe(shown);
        },
      ),
    );
    expect(printable('שלום, 漢字 👩‍💻 – ok')).toBe('שלום, 漢字 👩‍💻 – ok');
  });

  it('takes no longer for what begins an escape again and again', () => {
    const started = performance.now();
    printable('\u001b]'.repeat(200_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
