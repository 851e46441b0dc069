import { codeBlock, inlineCode } from './markdown-code';

describe('markdown code', () => {
  it.each([
    ['plain', '`plain`'],
    ['a`b``c', '```a`b``c```'],
    ['`edge', '`` `edge ``'],
    ['two\nlines', '`two lines`'],
    ['\u001b[31mred\u001b[0m', '`red`'],
  ])('sets %j on one line', (text, code) => {
    expect(inlineCode(text)).toBe(code);
  });

  it('sets a text between fences that it cannot close', () => {
    expect(codeBlock('```\n# Not a heading\n````\n')).toBe('`````\n```\n# Not a heading\n````\n\n`````');
    expect(codeBlock('a')).toBe('```\na\n```');
  });
});
