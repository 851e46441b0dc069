import { markdownText } from './markdown-text';

describe('text of others in markdown', () => {
  it.each([
    ['Fix the parser', 'Fix the parser'],
    ['# Heading\n## Second', '\\# Heading \\#\\# Second'],
    ['[click](https://evil.example)', '\\[click\\](https\\://evil.example)'],
    ['<script>alert(1)</script>', '\\<script\\>alert(1)\\</script\\>'],
    ['a `code` *bold* _em_ | cell', 'a \\`code\\` \\*bold\\* \\_em\\_ \\| cell'],
    ['- item', '\\- item'],
    ['12. item', '12\\. item'],
    ['see www.evil.example @all', 'see www\\.evil.example \\@all'],
    ['back\\slash', 'back\\\\slash'],
    ['\u001b[31mred\u202egnp', 'redgnp'],
  ])('%j is %j', (text, shown) => {
    expect(markdownText(text)).toBe(shown);
  });
});
