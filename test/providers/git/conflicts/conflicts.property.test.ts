import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { StoppedRebase } from '../../../../contracts/runs/conflict';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { createGit, type Git } from '../../../../providers/git/git';
import { commit, put, sh } from '../git-fixture';

/** What one commit does to a file: another text, or none. */
type Change = { file: string; text: string | null };
type Resolution = 'ours' | 'theirs' | 'manual';

interface Scenario {
  base: Change[];
  branch: Change[][];
  resolutions: Resolution[];
}

const files = ['a.txt', 'b.txt', 'dir/c.txt'];
const change = fc.record({
  file: fc.constantFrom(...files),
  text: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.array(fc.constantFrom('one', 'two', 'three'), { maxLength: 3 }).map((l) => l.join('\n')),
    },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
});
const scenario: fc.Arbitrary<Scenario> = fc.record({
  base: fc.array(change, { minLength: 1, maxLength: 3 }),
  branch: fc.array(fc.array(change, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  resolutions: fc.array(fc.constantFrom<Resolution>('ours', 'theirs', 'manual'), { minLength: 12, maxLength: 12 }),
});

let dir: TempDir;
beforeAll(async () => {
  dir = await makeTempDir('conflicts');
});
afterAll(() => dir.remove());

async function apply(root: string, changes: readonly Change[]): Promise<void> {
  for (const { file, text } of changes) {
    await (text === null ? rm(join(root, file), { force: true }) : put(root, { [file]: `${text}\n` }));
  }
}

/** A repository whose branch and base have changed the same files, with a worktree on the branch. */
async function build(root: string, { base, branch }: Scenario): Promise<{ repository: string; ontoSha: string }> {
  const repository = join(root, 'repository');
  await put(repository, Object.fromEntries(files.map((file) => [file, `of ${file}\n`])));
  await sh(repository, 'init', '-q', '-b', 'main');
  await commit(repository, 'Begin');
  await sh(repository, 'branch', 'task');
  await apply(repository, base);
  const ontoSha = await commit(repository, 'Base');
  await sh(repository, 'checkout', '-q', 'task');
  for (const [index, changes] of branch.entries()) {
    await apply(repository, changes);
    await commit(repository, `Change ${index}`);
  }
  await sh(repository, 'checkout', '-q', '--detach');
  return { repository, ontoSha };
}

const text = (path: string) => `by hand: ${path}\n`;
const unmergedIn = async (cwd: string): Promise<string[]> => {
  const names = await sh(cwd, 'diff', '--name-only', '--diff-filter=U', '-z');
  return [...new Set(names.split('\0').filter(Boolean))].sort();
};

/** The commits and files that came of it. */
const outcome = async (cwd: string, ontoSha: string) => ({
  commits: await sh(cwd, 'log', '--format=%T %an %ae %ad %B', `${ontoSha}..task`),
  tree: await sh(cwd, 'ls-tree', '-r', 'task'),
  status: await sh(cwd, 'status', '--porcelain'),
  head: await sh(cwd, 'rev-parse', '--symbolic-full-name', 'HEAD'),
});

/** Rebases as a person does, with git alone. */
async function byGit(cwd: string, ontoSha: string, resolutions: readonly Resolution[]) {
  let used = 0;
  let going = await sh(cwd, 'rebase', ontoSha).then(
    () => false,
    () => true,
  );
  while (going) {
    for (const path of await unmergedIn(cwd)) {
      const resolution = resolutions[used++ % resolutions.length] ?? 'ours';
      if (resolution === 'manual') {
        await put(cwd, { [path]: text(path) });
        await sh(cwd, 'add', path);
        continue;
      }
      await sh(cwd, 'checkout', `--${resolution}`, '--', path).then(
        () => sh(cwd, 'add', path),
        () => sh(cwd, 'rm', '-q', '-f', '--', path),
      );
    }
    going = await sh(cwd, 'rebase', '--continue').then(
      () => false,
      () => true,
    );
  }
}

/** The same through the operations. */
async function byBoard(
  git: Git,
  at: { repositoryPath: string; worktreePath: string },
  ontoSha: string,
  resolutions: readonly Resolution[],
) {
  const recorded = { ...at, branch: 'task' };
  let used = 0;
  const rebased = await git.rebaseOnto({ ...recorded, ontoSha, id: 'op', keepConflict: true });
  for (let round = 0, going = rebased.conflicts !== undefined; going; round += 1) {
    const { conflictingFiles } = await git.conflicts.list(recorded);
    for (const path of [...conflictingFiles].sort()) {
      const resolution = resolutions[used++ % resolutions.length] ?? 'ours';
      const target = await git.conflicts.decide({ ...recorded, path, resolution, hasText: resolution === 'manual' });
      await git.conflicts.resolve({ ...recorded, path, target, text: text(path) });
    }
    const stopped = (await git.conflicts.stopped(recorded)) as StoppedRebase;
    const { ended } = await git.conflicts.continueRebase({ ...recorded, id: `go_${round}`, stopped });
    expect(ended).not.toBe('undone');
    going = ended === 'stopped';
  }
}

describe('a rebase that is resolved and continued', () => {
  it("has the commits, files and state that git's own has", async () => {
    let run = 0;
    let stops = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async (drawn) => {
        const root = join(dir.path, String(run++));
        const { repository, ontoSha } = await build(root, drawn);
        const git = createGit({ settingsDir: join(root, 'settings') });
        const [person, board] = [join(root, 'person'), join(root, 'board')];
        const copy = join(root, 'copy');
        await cp(repository, copy, { recursive: true });
        await sh(copy, 'worktree', 'add', '-q', person, 'task');
        await sh(repository, 'worktree', 'add', '-q', board, 'task');
        await byGit(person, ontoSha, drawn.resolutions);
        await git.configureRepository({ repositoryPath: repository });
        await byBoard(git, { repositoryPath: repository, worktreePath: board }, ontoSha, drawn.resolutions);
        expect(await outcome(board, ontoSha)).toEqual(await outcome(person, ontoSha));
        stops += (await sh(repository, 'for-each-ref', 'refs/board/continued')) === '' ? 0 : 1;
        await rm(root, { recursive: true });
      }),
      { numRuns: 25 },
    );
    expect(stops).toBeGreaterThan(5);
  });
});
