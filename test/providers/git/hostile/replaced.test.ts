import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Baseline } from '../../../../providers/git/git';
import { contents, put, sh } from '../git-fixture';
import { aClone, type CloneFixture } from '../git-remote-fixture';

const attemptId = 'attempt_replace1';

let at: CloneFixture;
let baseline: Baseline;
let others: string;

beforeEach(async () => {
  at = await aClone();
  baseline = await at.git.captureBaseline({ worktreePath: at.worktree, attemptId });
  others = join(at.directory.path, 'others');
  await put(others, { 'precious.txt': 'precious\n', 'src/a.txt': 'theirs\n', 'sub/more.txt': 'more\n' });
  await sh(others, 'init', '-q', '-b', 'main');
});
afterEach(() => at.directory.remove());

const adminDir = () => join(at.repository, '.git/worktrees/task');

/** The replacements that an agent may make of its worktree. */
const attacks: Record<string, () => Promise<void>> = {
  'a symbolic link to another user’s directory': async () => {
    await rename(at.worktree, `${at.worktree}-moved`);
    await symlink(others, at.worktree);
  },
  'a symbolic link to a directory with the link of git': async () => {
    await rm(join(others, '.git'), { recursive: true });
    await writeFile(join(others, '.git'), await readFile(join(at.worktree, '.git')));
    await rename(at.worktree, `${at.worktree}-moved`);
    await symlink(others, at.worktree);
  },
  'a symbolic link in the way': async () => {
    const holder = join(at.directory.path, 'worktrees');
    await rename(holder, `${holder}-moved`);
    await mkdir(join(at.directory.path, 'fake'));
    await rename(others, join(at.directory.path, 'fake/task'));
    await symlink(join(at.directory.path, 'fake'), holder);
    others = join(at.directory.path, 'fake/task');
  },
  'another directory, linked as the worktree was': async () => {
    await rm(join(others, '.git'), { recursive: true });
    await writeFile(join(others, '.git'), await readFile(join(at.worktree, '.git')));
    await rename(at.worktree, `${at.worktree}-moved`);
    await rename(others, at.worktree);
    others = at.worktree;
  },
  'an administrative directory that is a link': async () => {
    await rename(adminDir(), `${adminDir()}-moved`);
    await symlink(`${adminDir()}-moved`, adminDir());
  },
  'an index that is a link to another user’s file': async () => {
    await rm(join(adminDir(), 'index'));
    await symlink(join(others, 'precious.txt'), join(adminDir(), 'index'));
  },
};

/** Every operation on the worktree, with what was recorded of it. */
const operations: Record<string, () => Promise<unknown>> = {
  'capturing a baseline': () =>
    at.git.captureBaseline({ worktreePath: at.worktree, identity: baseline.identity, attemptId: 'attempt_replace2' }),
  'describing one': () => at.git.describeBaseline({ worktreePath: at.worktree, identity: baseline.identity }),
  'a checkpoint': () =>
    at.git.captureCheckpoint({
      worktreePath: at.worktree,
      attemptId,
      number: 1,
      since: { tree: `${baseline.snapshot.commit}^{tree}`, headSha: baseline.headSha },
      gitDir: baseline.gitDir,
      identity: baseline.identity,
    }),
  'collecting changes': () => at.git.collectChanges({ worktreePath: at.worktree, baseline }),
  preserving: () => at.git.preserveAttempt({ worktreePath: at.worktree, attemptId, baseline }),
  restoring: () => at.git.restoreBaseline({ worktreePath: at.worktree, baseline }),
  'previewing a rewind': () => at.git.previewRewind({ ...recorded(), target: stateOf(baseline) }),
  rewinding: () =>
    at.git.rewindWorkspace({
      ...recorded(),
      id: 'rewind_replaced',
      before: stateOf(baseline),
      target: stateOf(baseline),
      decisions: new Map(),
    }),
  'an inventory': () => at.git.worktreeInventory({ worktreePath: at.worktree, identity: baseline.identity }),
  'looking around': () => at.git.snapshotRepository({ worktreePath: at.worktree, identity: baseline.identity }),
  rebasing: () =>
    at.git.rebaseOnto({
      worktreePath: at.worktree,
      identity: baseline.identity,
      branch: 'board/task',
      ontoSha: at.baseSha,
      id: 'rebase_replaced',
    }),
  'ensuring it': () => at.git.ensureWorktree({ ...at.request, identity: baseline.identity }),
  'removing it': () =>
    at.git.removeWorktree({
      ...at.inspection,
      identity: baseline.identity,
      insideDir: at.insideDir,
      id: 'op_replaced',
      headSha: at.baseSha,
      force: false,
    }),
};

const recorded = () => ({ worktreePath: at.worktree, gitDir: baseline.gitDir, identity: baseline.identity });
const stateOf = ({ snapshot, headSha, branch }: Baseline) => ({
  tree: `${snapshot.commit}^{tree}`,
  indexTree: `${snapshot.commit}^{tree}`,
  headSha,
  branch,
});

describe.each(Object.keys(attacks))('%s', (name) => {
  it('is touched by no operation', async () => {
    await attacks[name]?.();
    const before = await contents(others);
    const refs = await sh(at.repository, 'for-each-ref');
    for (const [operation, run] of Object.entries(operations)) {
      const outcome = await run().then(
        () => 'done',
        (error: unknown) => (error as { code?: string }).code,
      );
      expect([operation, outcome]).toEqual([operation, expect.stringMatching(/^(?:worktree-replaced|outside)$/)]);
    }
    const evidence = await at.git.inspectWorktree({ ...at.inspection, identity: baseline.identity });
    expect(evidence).toMatchObject({ exists: true, identity: null, gitDirMatches: false, complete: false });
    expect(await contents(others)).toEqual(before);
    expect(await sh(at.repository, 'for-each-ref')).toBe(refs);
  });
});

it('another .git gains nothing: it is moved aside, and the work of the agent is kept', async () => {
  const { git, worktree, repository } = at;
  await put(worktree, { work: 'work\n' });
  await rm(join(worktree, '.git'));
  await symlink(join(others, '.git'), join(worktree, '.git'));
  const kept = await git.preserveAttempt({ worktreePath: worktree, attemptId, baseline });
  expect(await sh(repository, 'show', `${kept?.ref}:work`)).toBe('work\n');
  await git.restoreBaseline({ worktreePath: worktree, baseline });
  expect(existsSync(join(worktree, 'work'))).toBe(false);
  expect(await sh(others, 'for-each-ref')).toBe('');
  expect(await readdir(others)).toEqual(expect.arrayContaining(['.git', 'precious.txt', 'src', 'sub']));
});

it('what is in the place of a worktree is moved aside by force, and it can be made again', async () => {
  const { git, worktree, inspection, insideDir, baseSha, repository, request } = at;
  await put(worktree, { 'src/a.txt': 'work\n' });
  await sh(worktree, 'commit', '-q', '-a', '-m', 'Work');
  const headSha = (await sh(worktree, 'rev-parse', 'HEAD')).trim();
  await attacks['a symbolic link to another user’s directory']?.();
  const before = await contents(others);
  const removal = { ...inspection, identity: baseline.identity, insideDir, id: 'op_forced', headSha, force: true };
  const removed = await git.removeWorktree(removal);
  expect(removed).toMatchObject({ removed: true, branchDeleted: true, movedAside: `${worktree}.replaced-op_forced` });
  expect((await sh(repository, 'rev-parse', 'refs/board/removed/op_forced')).trim()).toBe(headSha);
  expect(await contents(others)).toEqual(before);
  expect(await git.removeWorktree(removal)).toMatchObject({ removed: false });
  expect(await git.ensureWorktree(request)).toMatchObject({ created: true, headSha: baseSha });
});

it('a file of a rewind is not removed through a link that took the place of its directory', async () => {
  const { git, worktree } = at;
  await put(worktree, { 'sub/more.txt': 'agent\n' });
  const { before, changes } = await git.previewRewind({ ...recorded(), target: stateOf(baseline) });
  expect(changes.map(({ path }) => path)).toEqual(['sub/more.txt']);
  await rm(join(worktree, 'sub'), { recursive: true });
  await symlink(join(others, 'sub'), join(worktree, 'sub'));
  const request = { ...recorded(), id: 'rewind_linked', before, target: stateOf(baseline), decisions: new Map() };
  await git.rewindWorkspace(request).catch(() => undefined);
  expect(await readFile(join(others, 'sub/more.txt'), 'utf8')).toBe('more\n');
});
