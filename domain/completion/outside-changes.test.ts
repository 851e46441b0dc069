import { type Around, changedOutside } from './outside-changes';

const before: Around = {
  primary: { path: '/srv/shop', headSha: 'a', branch: 'main', files: 'clean' },
  refs: [
    { name: 'refs/heads/main', sha: 'a' },
    { name: 'refs/heads/board/t1', sha: 'a' },
    { name: 'refs/tags/v1', sha: 'a' },
  ],
  worktrees: [{ path: '/srv/t1', headSha: 'a', branch: 'board/t1' }],
};
const noOthers = { branches: new Set<string>(), paths: new Set<string>() };
const seen = (after: Partial<Around>, others = noOthers) =>
  changedOutside(before, { ...before, ...after }, others).map(({ what, target }) => `${what} ${target}`);
const moved = (name: string) => before.refs?.map((ref) => (ref.name === name ? { ...ref, sha: 'b' } : ref)) ?? [];

describe('outside changes', () => {
  test('nothing changed is nothing reported', () => {
    expect(seen({})).toEqual([]);
  });

  test('the primary checkout is reported: its HEAD, its files, and that it is gone', () => {
    const primary = { path: '/srv/shop', headSha: 'b', branch: 'main', files: 'dirty' };
    expect(seen({ primary })).toEqual(['primary-head /srv/shop', 'primary-files /srv/shop']);
    expect(seen({ primary: { ...primary, headSha: 'a', branch: 'other', files: 'clean' } })).toEqual([
      'primary-head /srv/shop',
    ]);
    expect(seen({ primary: null })).toEqual(['primary-checkout /srv/shop']);
  });

  test('settings and hooks that were changed are reported by their names', () => {
    const settings = [
      { name: 'config:core.bare', digest: '1' },
      { name: 'config:remote.origin.url', digest: '1' },
    ];
    const then = { ...before, settings };
    const after = [
      { name: 'config:core.bare', digest: '1' },
      { name: 'config:filter.x.clean', digest: '2' },
      { name: 'hooks/pre-push', digest: '3' },
    ];
    expect(changedOutside(then, { ...then, settings: after }, noOthers)).toEqual([
      { what: 'repository-setting', target: 'config:remote.origin.url', before: '1', after: null },
      { what: 'repository-setting', target: 'config:filter.x.clean', before: null, after: '2' },
      { what: 'hook', target: 'hooks/pre-push', before: null, after: '3' },
    ]);
    expect(changedOutside(before, then, noOthers)).toEqual([]);
  });

  test('references that were moved, made and removed are reported; those of other tasks are not', () => {
    expect(seen({ refs: moved('refs/tags/v1') })).toEqual(['ref refs/tags/v1']);
    expect(seen({ refs: [] }).length).toBe(3);
    const others = { ...noOthers, branches: new Set(['board/t1']) };
    expect(seen({ refs: moved('refs/heads/board/t1') })).toEqual(['ref refs/heads/board/t1']);
    expect(seen({ refs: moved('refs/heads/board/t1') }, others)).toEqual([]);
    // A tag of the same name has no owner.
    expect(seen({ refs: [...(before.refs ?? []), { name: 'refs/tags/board/t1', sha: 'b' }] }, others)).toHaveLength(1);
    expect(seen({ refs: null })).toEqual([]);
  });

  test('what a merge does to the branch it goes into, and to the checkout of it, is no news', () => {
    const others = { ...noOthers, branches: new Set(['main']) };
    const primary = { path: '/srv/shop', headSha: 'b', branch: 'main', files: 'behind' };
    expect(seen({ primary, refs: moved('refs/heads/main') }, others)).toEqual([]);
  });

  test('worktrees are reported unless they are of another task', () => {
    const worktrees = [
      { path: '/srv/t1', headSha: 'b', branch: 'board/t1' },
      { path: '/tmp/hidden', headSha: 'a', branch: null },
    ];
    expect(seen({ worktrees })).toEqual(['worktree /srv/t1', 'worktree /tmp/hidden']);
    expect(seen({ worktrees }, { ...noOthers, paths: new Set(['/srv/t1']) })).toEqual(['worktree /tmp/hidden']);
  });
});
