import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { listRefFiles, readRefFile } from '../../../../providers/git/refs/ref-files';
import { createGitRunner, type GitRunner } from '../../../../providers/git/run-git';
import { fromFiles } from '../../../../providers/git/settings/from-files';
import { readWorktreeList } from '../../../../providers/git/worktrees/worktree-files';
import { parseWorktrees } from '../../../../providers/git/worktrees/worktree-list';
import { aWorktree, commit, type GitFixture, sh } from '../git-fixture';

const names = ['a', 'a/b', 'a/b/c', 'feature/x.y', 'x+1', 'ü', 'board/task', 'main'] as const;
const name = fc.constantFrom(...names);
const kind = fc.constantFrom('heads', 'tags', 'board');

/** What git itself does with references and worktrees. */
const usual = fc.oneof(
  fc.record({ does: fc.constant('branch' as const), name }),
  fc.record({ does: fc.constant('delete branch' as const), name }),
  fc.record({ does: fc.constant('tag' as const), name, annotated: fc.boolean() }),
  fc.record({ does: fc.constant('update' as const), kind, name }),
  fc.record({ does: fc.constant('pack' as const), all: fc.boolean() }),
  fc.record({ does: fc.constant('gc' as const) }),
  fc.record({ does: fc.constant('commit' as const), linked: fc.boolean() }),
  fc.record({ does: fc.constant('add worktree' as const), name, detached: fc.boolean() }),
  fc.record({ does: fc.constant('remove worktree' as const), name }),
  fc.record({ does: fc.constant('lock' as const), reason: fc.constantFrom('', ' why ', 'two\nlines') }),
  fc.record({ does: fc.constant('unlock' as const) }),
  fc.record({ does: fc.constant('detach' as const), linked: fc.boolean() }),
  fc.record({ does: fc.constant('bare' as const), bare: fc.boolean() }),
);

const sha = '1234567890123456789012345678901234567890';
const content = fc.constantFrom(
  ...[`${sha}\n`, sha, `${sha} rest\n`, `${sha}rest\n`, `${sha}${sha.slice(16)}\n`, 'ab\n', '', sha.replace('1', 'A')],
  ...['ref: refs/heads/main\n', 'ref: refs/heads/none\n', 'ref:refs/heads/main', `${'0'.repeat(40)}\n`],
  ...[`# pack-refs with: sorted\n${sha} refs/heads/b\n${sha} refs/heads/a\n`, `${sha} refs/heads/a\n`, `^${sha}\n`],
  ...[`# pack-refs with: peeled fully-peeled sorted \n${sha} refs/tags/a\n^${sha}\n`, 'junk'],
);

/** What others may put there instead. */
const planted = fc.oneof(
  ...[
    fc.record({
      does: fc.constant('write' as const),
      path: fc.constantFrom(
        ...['refs/heads/a', 'refs/heads/a/b', 'refs/heads/x.lock', 'refs/heads/.hidden', 'refs/heads/bad..name'],
        ...['refs/tags/b', 'refs/board/a', 'refs/heads/main', 'packed-refs', 'HEAD', 'worktrees/stray'],
        ...['worktrees/task/HEAD', 'worktrees/task/gitdir', 'worktrees/task/locked', 'worktrees/two/gitdir'],
      ),
      content,
    }),
    fc.record({
      does: fc.constant('link' as const),
      path: fc.constantFrom('refs/heads/a', 'refs/heads/a/b', 'refs/tags/b', 'worktrees/task/HEAD', 'HEAD'),
      to: fc.constantFrom('main', '../heads/main', 'refs/heads/main', '../../HEAD', 'none', '.', '../refs/heads/main'),
    }),
    fc.record({
      does: fc.constant('make' as const),
      path: fc.constantFrom('refs/heads/empty', 'refs/heads/a', 'worktrees/two'),
    }),
    fc.record({
      does: fc.constant('remove' as const),
      path: fc.constantFrom('refs/heads', 'refs/tags', 'packed-refs', 'worktrees/task/gitdir', '../../worktrees/task'),
    }),
  ],
);
type Step = typeof usual | typeof planted extends fc.Arbitrary<infer S> ? S : never;

let at: GitFixture;
let runner: GitRunner;
const inGit = (path: string) => join(at.repository, '.git', path);
const worktreeAt = (of: string) => `${at.worktree}-${of.replace(/\W/g, '-')}`;

async function take(step: Step): Promise<unknown> {
  const { repository, worktree } = at;
  const anywhere = (linked: boolean) => (linked ? worktree : repository);
  switch (step.does) {
    case 'branch':
      return sh(repository, 'branch', '-f', step.name);
    case 'delete branch':
      return sh(repository, 'branch', '-D', step.name);
    case 'tag':
      return sh(repository, 'tag', '-f', ...(step.annotated ? ['-a', '-m', 'Tag'] : []), step.name);
    case 'update':
      return sh(repository, 'update-ref', `refs/${step.kind}/${step.name}`, 'HEAD');
    case 'pack':
      return sh(repository, 'pack-refs', ...(step.all ? ['--all'] : []));
    case 'gc':
      return sh(repository, 'gc', '-q');
    case 'commit':
      return commit(anywhere(step.linked), `Commit ${Math.random()}`);
    case 'add worktree': {
      const how = step.detached ? ['--detach', worktreeAt(step.name)] : [worktreeAt(step.name), step.name];
      return sh(repository, 'worktree', 'add', '-q', ...how);
    }
    case 'remove worktree':
      return sh(repository, 'worktree', 'remove', '--force', worktreeAt(step.name));
    case 'lock':
      return sh(repository, 'worktree', 'lock', '--reason', step.reason, worktree);
    case 'unlock':
      return sh(repository, 'worktree', 'unlock', worktree);
    case 'detach':
      return sh(anywhere(step.linked), 'checkout', '-q', '--detach');
    case 'bare':
      return sh(repository, 'config', 'core.bare', String(step.bare));
    case 'write':
      await mkdir(dirname(inGit(step.path)), { recursive: true });
      return writeFile(inGit(step.path), step.content);
    case 'link':
      await rm(inGit(step.path), { recursive: true, force: true });
      return symlink(step.to, inGit(step.path));
    case 'make':
      return mkdir(inGit(step.path), { recursive: true });
    case 'remove':
      return rm(inGit(step.path), { recursive: true });
  }
}

/** What git answers; `undefined` when it refuses. */
const ask = (...args: string[]): Promise<string | undefined> => sh(at.repository, ...args).catch(() => undefined);

async function refsOfGit() {
  const output = await ask('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags');
  return output
    ?.split('\n')
    .filter(Boolean)
    .map((line) => ({ name: line.slice(0, -41), sha: line.slice(-40) }));
}

const target = async (ref: string) => (await ask('rev-parse', '-q', '--verify', '--end-of-options', ref))?.trim();

async function worktreesOfGit() {
  const output = await ask('worktree', 'list', '--porcelain', '-z');
  return output === undefined ? undefined : parseWorktrees(output).map(({ path, ...rest }) => ({ path, ...rest }));
}

/** What is read from files; `undefined` where git is left to be asked. */
async function inFiles() {
  const read: typeof fromFiles = (...call) => fromFiles(...call).catch(() => undefined);
  // Settings are those of when a repository was read.
  await runner.repositories.configure({ repositoryPath: at.repository, reread: true }).catch(() => undefined);
  const [first, ...others] = (await read(runner, at.repository, readWorktreeList)) ?? [];
  return {
    refs: await read(runner, at.repository, ({ commonDir }) => listRefFiles(commonDir, ['refs/heads', 'refs/tags'])),
    // What git names the primary checkout by is decided elsewhere.
    worktrees: first && [{ ...first, path: at.repository }, ...others],
    target: (ref: string) => read(runner, at.repository, ({ commonDir }) => readRefFile(commonDir, ref)),
  };
}

/** Compares what is read from files with what git answers. @returns how many of the answers were read from files */
async function compare(): Promise<number> {
  const read = await inFiles();
  const answers: [unknown, unknown][] = [
    [read.refs, read.refs && (await refsOfGit())],
    [read.worktrees, read.worktrees && (await worktreesOfGit())],
  ];
  for (const ref of names.flatMap((each) => [`refs/heads/${each}`, `refs/board/${each}`])) {
    const found = await read.target(ref);
    answers.push([found, found === undefined ? undefined : ((await target(ref)) ?? null)]);
  }
  expect(answers.map(([found]) => found)).toEqual(answers.map(([, ofGit]) => ofGit));
  return answers.filter(([found]) => found !== undefined).length / answers.length;
}

describe('references and worktrees without a process', () => {
  beforeEach(async () => {
    at = await aWorktree();
  });
  afterEach(() => at.directory.remove());

  const runs = { numRuns: Number(process.env.PROPERTY_RUNS ?? 12) };
  const property = (step: fc.Arbitrary<Step>, judge: (share: number) => void) =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        await at.directory.remove();
        at = await aWorktree();
        runner = createGitRunner({ settingsDir: join(at.directory.path, 'own'), timeoutMs: 20_000, lockWaitMs: 300 });
        for (const action of steps) {
          await take(action).catch(() => undefined);
        }
        judge(await compare());
      }),
      runs,
    );

  it('answers as git does, after what git does to them', async () => {
    let shares = 0;
    await property(usual, (share) => {
      shares += share;
    });
    // But for names that are left to git.
    expect(shares / runs.numRuns).toBeGreaterThan(0.6);
  });

  it('answers as git does, whatever others put in their place', () =>
    property(fc.oneof(usual, planted, planted), () => undefined));

  it('finds a branch at any time while git moves and packs it', async () => {
    const commits = [at.baseSha, await commit(at.worktree, 'Second')];
    const directory = inGit('');
    const ref = 'refs/heads/a';
    await sh(at.repository, 'update-ref', ref, at.baseSha);
    const git = { isPacking: true };
    let read = 0;
    const packing = (async () => {
      for (let round = 0; round < 20; round += 1) {
        await sh(at.repository, 'update-ref', ref, commits[round % 2] ?? '');
        await sh(at.repository, 'pack-refs', '--all', '--prune');
      }
    })().finally(() => {
      git.isPacking = false;
    });
    while (git.isPacking) {
      // A file that comes back while it is looked for is left to git.
      const found = readRefFile(directory, ref);
      expect([...commits, undefined]).toContain(found);
      const listed = listRefFiles(directory, ['refs/heads']);
      expect(listed?.map(({ name: each }) => each) ?? [ref]).toContain(ref);
      read += found === undefined || listed === undefined ? 0 : 1;
      await setImmediate();
    }
    await packing;
    expect(read).toBeGreaterThan(10);
  });
});
