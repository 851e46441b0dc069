import { slugOf } from './slug';

describe('the slug of a workflow', () => {
  it.each([
    ['Build & ship', 'build-ship'],
    ['  v2 ', 'v2'],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
  ])('%j is %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  it('differs for names without Latin letters, and is the same for the same one', () => {
    const [first, second] = [slugOf('проверка'), slugOf('сборка')];
    expect(first).toMatch(/^workflow-[a-z0-9]+$/);
    expect(second).not.toBe(first);
    expect(slugOf('проверка')).toBe(first);
  });
});
