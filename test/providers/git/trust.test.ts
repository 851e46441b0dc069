import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createGit, type Git } from '../../../providers/git/git';
import { commit, put, sh } from './git-fixture';

let git: Git;
let directory: TempDir;
let path: string;

describe('workspace trust inventory', () => {
  beforeEach(async () => {
    directory = await makeTempDir('trust');
    path = join(directory.path, 'repository');
    await mkdir(path);
    git = createGit({ settingsDir: join(directory.path, 'settings') });
    await sh(path, 'init', '-q', '-b', 'main');
  });
  afterEach(() => directory.remove());

  const look = () => git.worktreeInventory({ worktreePath: path });
  const lookAt = (sha: string) => git.commitInventory({ repositoryPath: path, commit: sha });
  const pathsIn = ({ entries }: { entries: { path: string }[] }) => entries.map((entry) => entry.path);

  test('a worktree and the commit it is at have one inventory', async () => {
    await put(path, {
      'README.md': '# Sample\n',
      'AGENTS.md': 'Do it.\r\n',
      'packages/a/CLAUDE.md': 'Here, too.\n',
      '.claude/settings.json': '{}\n',
      '.github/workflows/ci.yml': 'on: push\n',
      '.gitattributes': '* text=auto\n',
    });
    await symlink('AGENTS.md', join(path, 'GEMINI.md'));
    await sh(path, 'config', 'core.autocrlf', 'false');
    await writeFile(join(path, '.gitattributes'), '* -text\n');
    const sha = await commit(path, 'first');
    const inventory = await look();
    expect(pathsIn(inventory)).toEqual(['.claude/settings.json', 'AGENTS.md', 'GEMINI.md', 'packages/a/CLAUDE.md']);
    expect(inventory.entries[2]).toMatchObject({ linksTo: 'AGENTS.md', objectId: inventory.entries[1]?.objectId });
    expect(inventory.unpinned).toEqual([]);
    expect(await lookAt(sha)).toEqual(inventory);
  });

  test('what is untracked, ignored, changed or deleted counts as it is in the worktree', async () => {
    await put(path, { '.gitignore': '.claude/\nnode_modules/\n', 'AGENTS.md': 'one\n', 'CLAUDE.md': 'two\n' });
    const sha = await commit(path, 'first');
    const committed = await lookAt(sha);
    await put(path, {
      '.claude/settings.local.json': '{"hooks": {}}',
      '.mcp.json': '{}',
      'AGENTS.md': 'other\n',
      'node_modules/lib/AGENTS.md': 'of a library',
    });
    await rm(join(path, 'CLAUDE.md'));
    const inventory = await look();
    expect(pathsIn(inventory)).toEqual(['.claude/settings.local.json', '.mcp.json', 'AGENTS.md']);
    expect(inventory.entries[2]?.objectId).not.toBe(committed.entries[0]?.objectId);
  });

  test('the content behind a link counts, and a link out of the worktree or to nothing is pinned to nothing', async () => {
    await put(path, { 'docs/agents.txt': 'one\n' });
    await symlink('docs/agents.txt', join(path, 'AGENTS.md'));
    await symlink('/etc/hostname', join(path, 'CLAUDE.md'));
    await symlink('nowhere', join(path, 'GEMINI.md'));
    await symlink('docs', join(path, '.claude'));
    const sha = await commit(path, 'first');
    const before = await look();
    expect(before.unpinned).toEqual(['.claude', 'CLAUDE.md', 'GEMINI.md']);
    expect(await lookAt(sha)).toEqual(before);
    await writeFile(join(path, 'docs/agents.txt'), 'two\n');
    expect((await look()).digest).not.toBe(before.digest);
  });

  test('a directory that leads outside brings nothing unseen', async () => {
    await put(path, { 'README.md': '#\n' });
    await commit(path, 'first');
    await symlink('/etc', join(path, '.codex'));
    expect((await look()).unpinned).toEqual(['.codex']);
  });

  test('a directory that other tools share is not looked through when it is a link', async () => {
    await put(path, { 'docs/agents/a.md': 'one\n', 'docs/mcp.json': '{}' });
    await symlink('docs', join(path, '.github'));
    await symlink('docs', join(path, '.vscode'));
    const sha = await commit(path, 'first');
    const inventory = await look();
    expect(inventory).toMatchObject({ entries: [], unpinned: ['.github', '.vscode'] });
    expect(await lookAt(sha)).toEqual(inventory);
  });

  test('a directory of agents is looked through to its end, and a repository in it is pinned to nothing', async () => {
    await put(path, {
      '.claude/a/b/c/deep.md': 'one\n',
      '.claude/skills/one.md': 'two\n',
      '.clinerules/rule.md': 'three\n',
      '.rules/not-for-agents.txt': 'four\n',
    });
    await sh(path, 'init', '-q', '.cursor/own');
    await put(path, { '.cursor/own/rule.md': 'five\n' });
    const inventory = await look();
    expect(pathsIn(inventory)).toEqual(['.claude/a/b/c/deep.md', '.claude/skills/one.md', '.clinerules/rule.md']);
    expect(inventory.unpinned).toEqual(['.cursor/own/']);
  });

  test('a directory of agents with more files than the limit is pinned to nothing', async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => [`.claude/${index}.md`, `${index}\n`]);
    await put(path, Object.fromEntries(many) as Record<string, string>);
    expect((await look()).unpinned).toEqual(['more than 1000 files']);
  });

  test('what was seen of a worktree gives the inventory that an inspection of its own does', async () => {
    await sh(path, 'init', '-q', '-b', 'main', '--object-format=sha256', 'other');
    path = join(path, 'other');
    await put(path, { 'AGENTS.md': 'one\n', 'packages/a/CLAUDE.md': 'two\n' });
    await commit(path, 'first');
    await put(path, { 'packages/b/GEMINI.md': 'three\n' });
    await rm(join(path, 'packages/a/CLAUDE.md'));
    const seen = await git.describeBaseline({ worktreePath: path });
    const inventory = await git.worktreeInventory({ worktreePath: path, seen });
    expect(pathsIn(inventory)).toEqual(['AGENTS.md', 'packages/b/GEMINI.md']);
    expect(inventory).toEqual(await look());
    expect(await lookAt(await commit(path, 'second'))).toEqual(inventory);
  });

  test('a pipe in the place of a file is not waited for, and what is too large is not read', async () => {
    await put(path, { 'AGENTS.md': 'one\n', 'CLAUDE.md': 'two\n', 'GEMINI.md': 'three\n' });
    await commit(path, 'first');
    await rm(join(path, 'AGENTS.md'));
    execFileSync('mkfifo', [join(path, 'AGENTS.md')]);
    await truncate(join(path, 'CLAUDE.md'), 17 * 1_048_576);
    const inventory = await look();
    expect(pathsIn(inventory)).toEqual(['GEMINI.md']);
    expect(inventory.unpinned).toEqual(['AGENTS.md', 'CLAUDE.md']);
  });
});
