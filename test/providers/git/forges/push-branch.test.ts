import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { createGit, type Git } from '../../../../providers/git/git';
import { type GitHttp, gitHttp } from '../../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../../support/forges/github-server';
import { aRepository, git as sh } from '../../../support/git/repository';

let dir: TempDir;
let repositoryPath: string;
let forge: GithubServer;
let http: GitHttp;
let git: Git;
const header = `Authorization: Basic ${Buffer.from(`x-access-token:${githubToken}`).toString('base64')}`;

beforeAll(async () => {
  dir = await makeTempDir('push-branch');
  repositoryPath = await aRepository(dir.path);
  http = await gitHttp(dir.path, githubToken);
  forge = await startGithubServer(http.raw);
  // What a repository could do with a push, or with the token.
  await writeFile(join(repositoryPath, '.git/hooks/pre-push'), `#!/bin/sh\ntouch ${dir.path}/hook\n`, { mode: 0o755 });
  await sh(repositoryPath, 'config', 'credential.helper', `!touch ${dir.path}/helper; false`);
  await sh(repositoryPath, 'config', `url.file://${dir.path}/elsewhere.insteadOf`, `${forge.url}/`);
  git = createGit({ settingsDir: join(dir.path, 'settings') });
  await git.configureRepository({ repositoryPath });
});
afterAll(async () => {
  await forge.close();
  await dir.remove();
});

const remoteOf = (changed: object = {}) => ({ url: `${forge.url}/acme/shop.git`, header, ...changed });
const headOf = () => sh(repositoryPath, 'rev-parse', 'HEAD');
const push = (branch: string, sha: string, changed: Partial<Parameters<Git['pushBranch']>[0]> = {}) =>
  git.pushBranch({ repositoryPath, remote: remoteOf(), branch, sha, ours: [], ...changed });
const commit = async (message: string): Promise<string> => {
  await sh(repositoryPath, 'commit', '--quiet', '--allow-empty', '-m', message);
  return headOf();
};

describe('a push to a forge', () => {
  it('makes a branch, and finds it when it is repeated', async () => {
    const sha = await headOf();
    expect(await push('board/one', sha)).toEqual({ pushed: true });
    expect(await push('board/one', sha)).toEqual({ pushed: false });
    expect(await http.head('board/one')).toBe(sha);
  });

  it('runs no hook and no helper of the repository, and goes nowhere else', async () => {
    await push('board/plain', await headOf());
    await expect(readFile(join(dir.path, 'hook'))).rejects.toThrow('ENOENT');
    await expect(readFile(join(dir.path, 'helper'))).rejects.toThrow('ENOENT');
  });

  it('replaces only what was pushed from here', async () => {
    const first = await commit('First try');
    await push('board/own', first);
    await sh(repositoryPath, 'commit', '--quiet', '--amend', '--allow-empty', '-m', 'Second try');
    const second = await headOf();
    expect(await push('board/own', second)).toMatchObject({ refused: 'moved', at: first });
    expect(await push('board/own', second, { ours: [first] })).toEqual({ pushed: true });
    expect(await http.head('board/own')).toBe(second);
  });

  it('continues a branch that was pushed from here when it has what others pushed since', async () => {
    const sha = await headOf();
    await push('board/shared', sha);
    const theirs = await commit('Theirs');
    await sh(repositoryPath, 'push', '--quiet', '--no-verify', http.path, `${theirs}:refs/heads/board/shared`);
    const merged = await commit('On top');
    expect(await push('board/shared', merged, { ours: [sha] })).toEqual({ pushed: true });
  });

  it('does not move a branch that is not from here, not even forward', async () => {
    const theirs = await headOf();
    await sh(repositoryPath, 'push', '--quiet', '--no-verify', http.path, `${theirs}:refs/heads/release`);
    expect(await push('release', await commit('Sneak'))).toMatchObject({ refused: 'moved', at: theirs });
    expect(await http.head('release')).toBe(theirs);
  });

  it('reports that the token is refused, without naming it', async () => {
    const wrong = 'Authorization: Basic d3Jvbmc6d3Jvbmc=';
    const result = await push('board/two', await headOf(), { remote: remoteOf({ header: wrong }) });
    expect(result).toMatchObject({ refused: 'unauthorized' });
    expect(JSON.stringify(result)).not.toContain('d3Jvbmc6d3Jvbmc');
  });

  it('reports that there is no such repository', async () => {
    const remote = remoteOf({ url: `${forge.url}/acme/none.git` });
    expect(await push('board/two', await headOf(), { remote })).toMatchObject({ refused: 'declined' });
  });

  it.each(['--force', 'a b', 'a..b', '-x', 'refs/../x'])('refuses the branch %s', async (branch) => {
    await expect(push(branch, await headOf())).rejects.toMatchObject({ code: 'unknown-ref' });
  });

  it('has the token in no argument of git', async () => {
    const bin = join(dir.path, 'bin');
    await mkdir(bin);
    const real = process.env.PATH ?? '';
    await writeFile(join(bin, 'git'), `#!/bin/sh\necho "$*" >> ${dir.path}/argv\nPATH='${real}' exec git "$@"\n`);
    await chmod(join(bin, 'git'), 0o755);
    process.env.PATH = `${bin}:${real}`;
    try {
      await push('board/three', await headOf());
    } finally {
      process.env.PATH = real;
    }
    const args = await readFile(join(dir.path, 'argv'), 'utf8');
    expect(args).toContain('push');
    expect(args).not.toContain(header.slice('Authorization: Basic '.length));
    expect(args).not.toContain(githubToken);
  });
});
