import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGit } from '../../../../providers/git/git';
import { commit, put, sh } from '../git-fixture';
import { aClone, type CloneFixture } from '../git-remote-fixture';

/** What an agent may set so that git runs its program, or reads what it likes. */
const programs = (program: string): [string, string][] => [
  ['filter.evil.clean', `${program}; cat`],
  ['filter.evil.smudge', `${program}; cat`],
  ['filter.evil.process', program],
  ['filter.evil.required', 'true'],
  ['merge.evil.driver', `${program} %O %A %B`],
  ['diff.evil.textconv', program],
  ['diff.evil.command', program],
  ['diff.external', program],
  ['core.sshCommand', program],
  ['core.gitProxy', program],
  ['core.fsmonitor', program],
  ['core.editor', program],
  ['core.pager', program],
  ['core.askPass', program],
  ['core.alternateRefsCommand', program],
  ['sequence.editor', program],
  ['interactive.diffFilter', program],
  ['gpg.program', program],
  ['commit.gpgSign', 'true'],
  ['log.showSignature', 'true'],
  ['credential.helper', `!${program}`],
  ['trailer.evil.command', program],
  ['trailer.evil.cmd', program],
  ['uploadpack.packObjectsHook', program],
  ['remote.origin.uploadpack', program],
  ['remote.origin.receivepack', program],
  ['remote.origin.proxy', 'http://127.0.0.1:1'],
  ['protocol.ext.allow', 'always'],
  ['submodule.recurse', 'true'],
  ['diff.ignoreSubmodules', 'none'],
  ['rebase.autoStash', 'true'],
  ['alias.status', `!${program}`],
  ['url.ext::sh -c touch% %s.insteadOf', '/'],
];

let at: CloneFixture;
let program: string;
let marker: string;

beforeEach(async () => {
  at = await aClone();
  const { directory } = at;
  marker = join(directory.path, 'ran');
  program = join(directory.path, 'program');
  await writeFile(program, `#!/bin/sh\necho "$0 $*" >> '${marker}'\n`, { mode: 0o755 });
});
afterEach(() => at.directory.remove());

/** Settings as text of a file: git itself might refuse some of them. */
const asFile = (settings: readonly [string, string][]): string =>
  settings
    .map(([key, value]) => {
      const [section, ...rest] = key.split('.');
      const name = rest.pop() ?? '';
      const header = rest.length === 0 ? `[${section}]` : `[${section} "${rest.join('.')}"]`;
      return `${header}\n\t${name} = "${value.replace(/[\\"]/g, '\\$&')}"\n`;
    })
    .join('');

/** Every way by which settings reach git, with hooks and attributes besides. */
const ways: Record<string, (settings: string) => Promise<void>> = {
  'the configuration of the repository': async (settings) => {
    const config = join(at.repository, '.git/config');
    await writeFile(config, `${await readFile(config, 'utf8')}${settings}`);
  },
  'a file that it includes': async (settings) => {
    const included = join(at.directory.path, 'included');
    await writeFile(included, settings);
    const config = join(at.repository, '.git/config');
    const conditions = `[include]\n\tpath = ${included}\n[includeIf "gitdir:**"]\n\tpath = ${included}\n`;
    await writeFile(config, `${await readFile(config, 'utf8')}${conditions}`);
  },
  'the configuration of the worktree': async (settings) => {
    await sh(at.repository, 'config', 'extensions.worktreeConfig', 'true');
    for (const name of ['.git/config.worktree', '.git/worktrees/task/config.worktree']) {
      await writeFile(join(at.repository, name), settings);
    }
  },
  'the configuration of the user': async (settings) => {
    await writeFile(join(home(), '.gitconfig'), settings);
    await mkdir(join(home(), '.config/git'), { recursive: true });
    await writeFile(join(home(), '.config/git/config'), settings);
  },
};

const home = () => join(at.directory.path, 'home');

/** Makes every file go through the attributes of the agent, and every command through its hooks. */
async function prepareRepository(): Promise<void> {
  const { repository, worktree } = at;
  const attributes = '* filter=evil merge=evil diff=evil\n';
  await writeFile(join(repository, '.git/info/attributes'), attributes);
  await writeFile(join(worktree, '.gitattributes'), attributes);
  const hooks = [
    'post-checkout',
    'reference-transaction',
    'post-index-change',
    'pre-rebase',
    'pre-push',
    'post-rewrite',
  ];
  for (const hook of [...hooks, 'pre-commit', 'commit-msg', 'post-commit', 'post-merge', 'fsmonitor-watchman']) {
    await writeFile(join(repository, '.git/hooks', hook), `#!/bin/sh\n${program} ${hook}\n`, { mode: 0o755 });
  }
}

/** A repository inside the worktree, tracked as a submodule, whose own configuration names programs. */
async function nestRepository(settings: string): Promise<void> {
  const nested = join(at.worktree, 'nested');
  await mkdir(nested);
  await sh(nested, 'init', '-q');
  await put(nested, { 'file.txt': 'one\n' });
  await commit(nested, 'Nested');
  await sh(at.worktree, '-c', 'advice.addEmbeddedRepo=false', 'add', 'nested');
  await put(at.worktree, {
    '.gitmodules': '[submodule "nested"]\n\tpath = nested\n\turl = ./nested\n\tignore = none\n',
  });
  await commit(at.worktree, 'With a submodule');
  await writeFile(join(nested, '.git/info/attributes'), '* filter=evil\n');
  await writeFile(join(nested, '.git/config'), `${await readFile(join(nested, '.git/config'), 'utf8')}${settings}`);
  await put(nested, { 'file.txt': 'two\n' });
}

/** A worktree with a commit of its own, made before anything was attacked. */
async function aBranchWithWork(): Promise<string> {
  const worktreePath = join(at.insideDir, 'mine');
  await at.git.ensureWorktree({ ...at.request, worktreePath, branch: 'board/mine' });
  await put(worktreePath, { 'src/mine.txt': 'mine\n' });
  await commit(worktreePath, 'Mine');
  return worktreePath;
}

/** Every operation of ours on a worktree and its repository. */
async function everything(mine: string): Promise<void> {
  const { git, repository, worktree, request, inspection, insideDir, onBase, baseSha } = at;
  const base = await at.advance({ 'src/new.txt': 'new\n' });
  await git.fetchBase(onBase);
  await git.remoteHead(onBase);
  await git.remoteFingerprint(onBase);
  await git.localBase(onBase);
  await git.listWorktrees({ repositoryPath: repository });
  const second = { ...request, worktreePath: join(insideDir, 'second'), branch: 'board/second' };
  await git.ensureWorktree(second);
  await git.ensureWorktree(request);
  await git.inspectWorktree(inspection);
  const baseline = await git.captureBaseline({ worktreePath: worktree, attemptId: 'attempt_attack01' });
  await git.describeBaseline({ worktreePath: worktree });
  await git.snapshotRepository({ worktreePath: worktree });
  await git.worktreeInventory({ worktreePath: worktree });
  await git.commitInventory({ repositoryPath: repository, commit: baseSha });
  await put(worktree, { 'src/a.txt': 'changed\n', fresh: 'fresh\n' });
  const checkpoint = await git.captureCheckpoint({
    worktreePath: worktree,
    attemptId: 'attempt_attack01',
    number: 1,
    since: { tree: `${baseline.snapshot.commit}^{tree}`, headSha: baseline.headSha },
    gitDir: baseline.gitDir,
  });
  expect(checkpoint?.changes.map(({ path }) => path)).toEqual(expect.arrayContaining(['fresh', 'src/a.txt']));
  if (!checkpoint) {
    return;
  }
  await put(worktree, { 'src/a.txt': 'changed again\n' });
  const { before } = await git.previewRewind({ worktreePath: worktree, gitDir: baseline.gitDir, target: checkpoint });
  await git.rewindWorkspace({
    worktreePath: worktree,
    gitDir: baseline.gitDir,
    id: 'rewind_attack01',
    before,
    target: checkpoint,
    decisions: new Map(),
  });
  expect(await readFile(join(worktree, 'src/a.txt'), 'utf8')).toBe('changed\n');
  await git.collectChanges({ worktreePath: worktree, baseline });
  await git.preserveAttempt({ worktreePath: worktree, attemptId: 'attempt_attack01', baseline });
  await git.restoreBaseline({ worktreePath: worktree, baseline });
  const { headSha } = await git.rebaseOnto({ worktreePath: mine, branch: 'board/mine', ontoSha: base, id: 'r1' });
  const integration = {
    repositoryPath: repository,
    integrationPath: join(insideDir, 'integration'),
    insideDir,
    id: 'i1',
  };
  const { mergedSha } = await git.integrate({
    ...integration,
    headSha,
    baseSha: base,
    message: 'Merge',
    author: { name: 'A', email: 'a@x' },
  });
  await git.pushIntegration({
    repositoryPath: repository,
    mergedSha,
    baseBranch: 'main',
    expectedBaseSha: base,
    remote: 'origin',
  });
  await git.removeIntegration({ ...integration, landed: true });
  await git.fetchBase(onBase);
  const removal = { ...inspection, insideDir, force: true };
  await git.removeWorktree({ ...removal, worktreePath: mine, branch: 'board/mine', id: 'd1', headSha });
  await git.removeWorktree({ ...removal, ...second, id: 'd2', headSha: baseSha, force: false });
  await git.removeWorktree({ ...removal, id: 'd3', headSha: baseline.headSha });
}

it.each(Object.keys(ways))('nothing that an agent has set in %s runs', async (way) => {
  await mkdir(home());
  const former = process.env.HOME;
  process.env.HOME = home();
  try {
    // The worker is there before any agent is.
    at = { ...at, git: createGit({ settingsDir: join(at.directory.path, 'settings'), lockWaitMs: 300 }) };
    await at.git.resolveBase({ repositoryPath: at.repository, branch: 'main' });
    const mine = await aBranchWithWork();
    await nestRepository(asFile(programs(program).filter(([key]) => key.startsWith('filter.'))));
    await ways[way]?.(asFile(programs(program)));
    await prepareRepository();
    await rm(marker, { force: true });
    const failure = await everything(mine).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    expect(existsSync(marker) ? await readFile(marker, 'utf8') : 'nothing ran').toBe('nothing ran');
    if (failure) {
      throw failure;
    }
  } finally {
    process.env.HOME = former;
  }
});

describe('filters', () => {
  /** A filter that turns letters upside down in the repository, and back in the worktree. */
  const operatorsFilter = '[filter "lfs"]\n\tclean = "tr a-z A-Z"\n\tsmudge = "tr A-Z a-z"\n\trequired = true\n';

  async function withOperator<T>(work: () => Promise<T>): Promise<T> {
    await mkdir(home());
    await writeFile(join(home(), '.gitconfig'), operatorsFilter);
    const former = process.env.HOME;
    process.env.HOME = home();
    try {
      at = { ...at, git: createGit({ settingsDir: join(at.directory.path, 'own'), lockWaitMs: 300 }) };
      return await work();
    } finally {
      process.env.HOME = former;
    }
  }

  it('of the operator run where they are allowed, with the command of the operator', async () => {
    await withOperator(async () => {
      const { git, repository, worktree } = at;
      await sh(repository, 'config', 'filter.lfs.clean', `${program}; cat`);
      const allowed = { repositoryPath: repository, allowFilters: ['lfs'] };
      expect(await git.configureRepository(allowed)).toEqual({ remotes: ['origin'], missingFilters: [] });
      await writeFile(join(worktree, '.gitattributes'), '*.big filter=lfs\n');
      await put(worktree, { 'data.big': 'lower\n' });
      const { snapshot } = await git.captureBaseline({ worktreePath: worktree, attemptId: 'attempt_filter01' });
      expect(await sh(repository, 'cat-file', 'blob', `${snapshot.commit}:data.big`)).toBe('LOWER\n');
      expect(existsSync(marker)).toBe(false);
      // Not allowed any more: content is stored as it is.
      await git.configureRepository({ ...allowed, allowFilters: [] });
      await put(worktree, { 'data.big': 'lower too\n' });
      const plain = await git.captureBaseline({ worktreePath: worktree, attemptId: 'attempt_filter02' });
      expect(await sh(repository, 'cat-file', 'blob', `${plain.snapshot.commit}:data.big`)).toBe('lower too\n');
    });
  });

  it('that are allowed and that the operator has not configured are named', async () => {
    const { git, repository } = at;
    const answer = await git.configureRepository({ repositoryPath: repository, allowFilters: ['nothing'] });
    expect(answer).toEqual({ remotes: ['origin'], missingFilters: ['nothing'] });
  });
});

describe('the settings of a repository', () => {
  it('are those of when it was configured, until they are read again', async () => {
    const { git, repository, onBase, baseSha, directory } = at;
    await sh(repository, 'remote', 'set-url', 'origin', join(directory.path, 'gone.git'));
    await sh(repository, 'config', 'core.autocrlf', 'true');
    expect((await git.fetchBase(onBase)).sha).toBe(baseSha);
    await at.configure();
    await expect(git.fetchBase(onBase)).rejects.toMatchObject({ code: 'fetch-failed' });
  });

  it('are written as git reads them, whatever is in them', async () => {
    const { git, repository, onBase } = at;
    const odd = join(at.directory.path, 'an "odd" \\ name; #1.git');
    await sh(at.directory.path, 'clone', '-q', '--bare', at.remote, odd);
    await sh(repository, 'remote', 'set-url', 'origin', odd);
    await at.configure();
    expect((await git.fetchBase(onBase)).sha).toBe(at.baseSha);
  });

  it('state which remote a branch is of', async () => {
    const { git, repository } = at;
    const of = (branch: string) => git.defaultRemote({ repositoryPath: repository, branch });
    expect(await of('main')).toBe('origin');
    await sh(repository, 'config', 'branch.main.remote', 'upstream');
    await sh(repository, 'config', 'branch.local.remote', '.');
    expect(await of('main')).toBe('origin');
    await at.configure();
    expect([await of('main'), await of('local'), await of('other')]).toEqual(['upstream', 'origin', 'origin']);
    await sh(repository, 'remote', 'remove', 'origin');
    await at.configure();
    expect([await of('main'), await of('other')]).toEqual(['upstream', undefined]);
  });
});
