import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aWorktree, commit, type GitFixture, put, sh } from './git-fixture';

describe('tracked instructions', () => {
  let at: GitFixture;

  beforeEach(async () => {
    at = await aWorktree();
    await put(at.worktree, { 'AGENTS.md': 'one\n', 'src/index.ts': '\n' });
    await commit(at.worktree, 'first');
  });
  afterEach(() => at.directory.remove());

  const tracked = async () => {
    const { entries } = await at.git.worktreeInventory({
      worktreePath: at.worktree,
      seen: { headSha: at.baseSha, untracked: [] },
    });
    return entries.map(({ path }) => path);
  };

  it('lists those of the index, wherever they are', async () => {
    await put(at.worktree, { 'src/CLAUDE.md': 'two\n', 'src/NOT-CLAUDE.md': 'three\n' });
    expect(await tracked()).toEqual(['AGENTS.md']);
    await sh(at.worktree, 'add', '-A');
    expect(await tracked()).toEqual(['AGENTS.md', 'src/CLAUDE.md']);
  });

  it('lists those of an index that is written into', async () => {
    const index = join(at.repository, '.git/worktrees/task/index');
    await put(at.worktree, { 'src/CLAUDE.md': 'two\n' });
    const first = await readFile(index);
    await sh(at.worktree, 'add', '-A');
    expect(await tracked()).toEqual(['AGENTS.md', 'src/CLAUDE.md']);
    await writeFile(index, first);
    expect(await tracked()).toEqual(['AGENTS.md']);
  });

  it('leaves to git an index in another form', async () => {
    await put(at.worktree, { 'src/CLAUDE.md': 'two\n' });
    await sh(at.worktree, 'add', '-A');
    await sh(at.worktree, 'update-index', '--index-version', '4', '--split-index');
    expect(await tracked()).toEqual(['AGENTS.md', 'src/CLAUDE.md']);
  });
});
