import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { type IndexEntry, parseIndex, readIndex } from '../../../../providers/git/files/index-file';
import { createGitRunner, type GitRunner } from '../../../../providers/git/run-git';
import { aWorktree, commit, type GitFixture, put, sh } from '../git-fixture';

const path = fc.constantFrom(
  'README.md',
  'src/a.txt',
  'src/b.txt',
  'n',
  'd/AGENTS.md',
  'new\nline',
  'ü',
  'x'.repeat(200),
);

/** What changes an index. */
const step = fc.oneof(
  fc.record({ does: fc.constant('add' as const), path }),
  fc.record({ does: fc.constant('forget' as const), path }),
  fc.record({ does: fc.constant('intend' as const), path }),
  fc.record({
    does: fc.constant('mark' as const),
    path,
    mark: fc.constantFrom('--assume-unchanged', '--skip-worktree', '--no-skip-worktree', '--chmod=+x'),
  }),
  fc.record({ does: fc.constant('conflict' as const), path }),
  fc.record({ does: fc.constant('repository' as const) }),
  fc.record({ does: fc.constant('version' as const), version: fc.constantFrom('2', '3', '4') }),
  fc.record({ does: fc.constant('extend' as const), how: fc.constantFrom('--split-index', '--untracked-cache') }),
  fc.record({ does: fc.constant('commit' as const) }),
  fc.record({ does: fc.constant('remove' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

let at: GitFixture;
let head: string;
let runner: GitRunner;
let asked: number;

async function take(root: string, action: Step): Promise<unknown> {
  switch (action.does) {
    case 'add':
      await put(root, { [action.path]: action.path });
      return sh(root, 'add', '--', `:(literal)${action.path}`);
    case 'forget':
      return sh(root, 'rm', '-q', '--cached', '--', `:(literal)${action.path}`);
    case 'intend':
      await put(root, { [action.path]: action.path });
      return sh(root, 'add', '-N', '--', `:(literal)${action.path}`);
    case 'mark':
      return sh(root, 'update-index', action.mark, action.path);
    case 'conflict': {
      const blob = (await sh(root, 'rev-parse', `${head}:README.md`)).trim();
      await sh(root, 'update-index', '--force-remove', action.path);
      for (const stage of [1, 3]) {
        const info = join(root, 'info');
        await writeFile(info, `100644 ${blob} ${stage}\t${action.path}\n`);
        await sh(root, '-c', `alias.stage=!git update-index --index-info < '${info}'`, 'stage');
      }
      return rm(join(root, 'info'));
    }
    case 'repository':
      return sh(root, 'update-index', '--add', '--cacheinfo', `160000,${head},inside`);
    case 'version':
      return sh(root, 'update-index', '--index-version', action.version);
    case 'extend':
      return sh(root, 'update-index', action.how);
    case 'commit':
      return commit(root, 'Step');
    case 'remove':
      return rm(join(at.repository, '.git/worktrees/task/index'));
  }
}

/** `<tag> <mode> <object> <stage>\t<path>`: what `git ls-files -v -s` prints of an entry. */
function lineOf({ path: name, object, mode, unmerged, assumed, skipped }: IndexEntry): string {
  const tag = unmerged ? 'M' : skipped ? 'S' : 'H';
  return `${assumed ? tag.toLowerCase() : tag} ${mode.toString(8).padStart(6, '0')} ${object} ${unmerged ? 1 : 0}\t${name}`;
}

async function ofGit(): Promise<string[] | undefined> {
  const output = await sh(at.worktree, 'ls-files', '-v', '-s', '-z').catch(() => undefined);
  return output
    ?.split('\0')
    .filter(Boolean)
    .map((line) => line.replace(/ [123]\t/, ' 1\t'));
}

describe('an index without a process', () => {
  beforeEach(async () => {
    at = await aWorktree();
    head = at.baseSha;
    const git = createGitRunner({ settingsDir: join(at.directory.path, 'own'), timeoutMs: 20_000, lockWaitMs: 300 });
    asked = 0;
    const count: (...call: Parameters<GitRunner>) => ReturnType<GitRunner> = (...call) => {
      asked += 1;
      return git(...call);
    };
    runner = Object.assign(count, git);
  });
  afterEach(() => at.directory.remove());

  const entries = async () => (await readIndex(runner, at.worktree)).map(lineOf);

  it('lists the entries and marks that git lists, after whatever is done to it', async () => {
    const numRuns = Number(process.env.PROPERTY_RUNS ?? 30);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        await rm(join(at.repository, '.git/worktrees/task/index'), { force: true });
        await sh(at.worktree, 'reset', '-q', '--hard', at.baseSha);
        for (const action of steps) {
          await take(at.worktree, action).catch(() => undefined);
        }
        expect(await entries()).toEqual(await ofGit());
      }),
      { numRuns },
    );
    expect(asked).toBeLessThan(numRuns * 0.8);
  });

  it('leaves to git what is damaged anywhere, and what is cut off', async () => {
    const index = join(at.repository, '.git/worktrees/task/index');
    await sh(at.worktree, 'update-index', '--skip-worktree', 'src/a.txt');
    const whole = await readFile(index);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 21),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (where, by, cut) => {
          const damaged = cut ? Buffer.concat([whole.subarray(0, where), whole.subarray(-20)]) : Buffer.from(whole);
          if (!cut) {
            damaged[where] = (damaged[where] ?? 0) ^ by;
          }
          const read = parseIndex(damaged)?.map(lineOf);
          if (read !== undefined) {
            await writeFile(index, damaged);
            expect(read).toEqual(await ofGit());
          }
        },
      ),
      { numRuns: Number(process.env.PROPERTY_RUNS ?? 60) },
    );
  });

  it('asks git about a split index', async () => {
    await entries();
    expect(asked).toBe(0);
    await sh(at.worktree, 'update-index', '--split-index');
    expect(await entries()).toEqual(await ofGit());
    expect(asked).toBe(1);
  });
});
