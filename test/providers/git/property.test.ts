import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { aWorktree, contents, type GitFixture, sh, stateOf } from './git-fixture';

const names = ['README.md', 'src/a.txt', 'src/b.txt', 'src', 'n1', 'd/n2', 'd', 'new\nline', '-x', 'ü/ "q"'];
const path = fc.constantFrom(...names);

/** What people and agents do to a worktree. Each step that is impossible in its turn is left out. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('write' as const), path, text: fc.string({ maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('remove' as const), path }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('link' as const), path }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('chmod' as const), path }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('stage' as const), path }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('unstage' as const), path }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('branch' as const), name: fc.constantFrom('p', 'q') }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function take(root: string, action: Step): Promise<void> {
  switch (action.does) {
    case 'write':
      await mkdir(dirname(join(root, action.path)), { recursive: true });
      return writeFile(join(root, action.path), action.text);
    case 'remove':
      return rm(join(root, action.path), { recursive: true });
    case 'link':
      return symlink('src/a.txt', join(root, action.path));
    case 'chmod':
      return chmod(join(root, action.path), 0o755);
    case 'stage':
      await sh(root, 'add', '-A', '--', `:(literal)${action.path}`);
      return;
    case 'unstage':
      await sh(root, 'rm', '-rq', '--cached', '--', `:(literal)${action.path}`);
      return;
    case 'commit':
      await sh(root, 'commit', '-q', '-m', 'Step');
      return;
    case 'branch':
      await sh(root, 'checkout', '-q', '-B', action.name);
      return;
  }
}

const takeAll = async (root: string, steps: readonly Step[]): Promise<void> => {
  for (const action of steps) {
    await take(root, action).catch(() => undefined);
  }
};

let at: GitFixture;

describe('random worktree operations', () => {
  beforeEach(async () => {
    at = await aWorktree();
  });
  afterEach(() => at.directory.remove());

  it('brings any state back exactly, and keeps all that came after it', async () => {
    let runs = 0;
    const steps = fc.array(step, { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, after) => {
        runs += 1;
        const attemptId = `attempt_property${runs}`;
        const { git, request } = at;
        const worktreePath = `${request.worktreePath}-${runs}`;
        await git.ensureWorktree({ ...request, worktreePath, branch: `board/${runs}` });
        await takeAll(worktreePath, before);
        const baselineState = await stateOf(worktreePath);
        const baseline = await git.captureBaseline({ worktreePath, attemptId });
        expect(await stateOf(worktreePath)).toEqual(baselineState);

        await takeAll(worktreePath, after);
        const left = await stateOf(worktreePath);
        const kept = await git.preserveAttempt({ worktreePath, attemptId });
        expect(await stateOf(worktreePath)).toEqual(left);
        await git.restoreBaseline({ worktreePath, baseline });
        expect(await stateOf(worktreePath)).toEqual(baselineState);

        if (kept) {
          const copy = `${worktreePath}-kept`;
          await sh(at.repository, 'worktree', 'add', '-q', '--detach', copy, kept.commit);
          expect(await contents(copy)).toEqual(left.files);
        } else {
          expect(left.files).toEqual(baselineState.files);
        }
        await sh(at.repository, 'worktree', 'remove', '--force', worktreePath);
      }),
      { numRuns: Number(process.env.PROPERTY_RUNS ?? 25) },
    );
  });
});
