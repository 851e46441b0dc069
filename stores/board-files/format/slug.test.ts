import { slugOf } from './slug';

describe('file name slug', () => {
  test.each([
    ['Fix the login page', 'fix-the-login-page'],
    ['  --Fix  /../ login!! ', 'fix-login'],
    ['日本語', ''],
    ['', ''],
    [`${'a'.repeat(49)} b`, 'a'.repeat(49)],
    ['x'.repeat(200), 'x'.repeat(50)],
  ])('%j becomes %j', (title, slug) => {
    expect(slugOf(title)).toBe(slug);
  });
});
