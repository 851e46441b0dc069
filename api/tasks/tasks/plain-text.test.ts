import { withoutTags } from '../../../platform/text/without-tags';
import { withPlainTitles } from './plain-text';

describe('tags in titles', () => {
  it.each([
    ['Fix <b>bold</b> text', 'Fix bold text'],
    ['<script>alert(1)</script>', 'alert(1)'],
    ['<scr<script>ipt>alert(1)</scr</script>ipt>', 'alert(1)'],
    ['a<!-- hidden -->b', 'ab'],
    ['<img src=x onerror=alert(1)>', ''],
    ['a < b and c > d', 'a < b and c > d'],
    ['x <- y, 1<2', 'x <- y, 1<2'],
    ['Array<string> stays readable', 'Array stays readable'],
  ])('%j becomes %j', (title, plain) => expect(withoutTags(title)).toBe(plain));

  it('takes no longer for a title made to be slow', () => {
    expect(withoutTags('<a'.repeat(100))).toBe('<a'.repeat(100));
  });

  it('refuses a title that is nothing but tags, by its path', () => {
    expect(() => withPlainTitles({ title: '<br>' })).toThrow(
      expect.objectContaining({ details: { issues: [expect.objectContaining({ path: 'title' })] } }),
    );
  });
});
