import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRepositoryActivities } from '../../activities/repository-setup/activities';
import { createRepositoryViewActivities } from '../../activities/repository-view/activities';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createGit } from '../../providers/git/git';
import { commit, sh } from '../providers/git/git-fixture';

let directory: TempDir;
beforeAll(async () => {
  directory = await makeTempDir('heads');
});
afterAll(() => directory.remove());

let made = 0;

/** Sets up and inspects a repository with one commit on `main`, after something was done to it. */
async function judge(change: (path: string) => Promise<unknown>, defaultBranch?: string, request: object = {}) {
  const path = join(directory.path, `repository-${(made += 1)}`);
  await mkdir(path);
  await sh(path, 'init', '-q', '-b', 'main');
  const sha = await commit(path, 'Begin');
  await change(path);
  const proofs = { require: async () => undefined } as unknown as ProofVerifier;
  const git = createGit({ settingsDir: join(directory.path, `settings-${made}`) });
  const host = { git, hostId: 'bee', proofs };
  const repository = { path, remote: null, allowFilters: [], defaultBranch, proof: '', ...request };
  const problem = await createRepositoryActivities(host).setUpRepository(repository as never);
  const inspected = await createRepositoryViewActivities(host).inspectRepository({
    askRemotes: false,
    ...repository,
  } as never);
  return { problem, inspected, sha };
}

const head = (text: string) => (path: string) => writeFile(join(path, '.git', 'HEAD'), text);

describe('the set-up of a repository', () => {
  const served: [string, (path: string) => Promise<unknown>, object][] = [
    ['is detached', (path) => sh(path, 'checkout', '-q', '--detach'), { commit: true }],
    ['is a branch without a commit', head('ref: refs/heads/none\n'), { branch: 'none' }],
    ['leads to a tag', (path) => sh(path, 'tag', 'v1').then(() => head('ref: refs/tags/v1\n')(path)), { commit: true }],
    ['leads to a missing tag', head('ref: refs/tags/none\n'), {}],
    ['is a commit that is missing', head(`${'1'.repeat(40)}\n`), {}],
    [
      'is an annotated tag',
      async (path) => {
        await sh(path, 'tag', '-a', '-m', 'One', 'v1');
        await head(await sh(path, 'rev-parse', 'v1'))(path);
      },
      { commit: true },
    ],
  ];

  it.each(served)('serves one whose HEAD %s', async (_what, change, expected) => {
    const { problem, inspected, sha } = await judge(change, 'main');
    expect(problem).toBeNull();
    const commitAt = 'commit' in expected ? { ...expected, commit: sha } : expected;
    expect(inspected).toEqual({ problems: [], head: commitAt, remotes: [] });
  });

  const refused: [string, (path: string) => Promise<unknown>][] = [
    ['is no reference', head('garbage\n')],
    ['is empty', head('')],
    ['leads to itself', head('ref: HEAD\n')],
    ['leads out of the references', head('ref: elsewhere\n')],
    ['is missing', (path) => rm(join(path, '.git', 'HEAD'))],
  ];

  it.each(refused)('refuses one whose HEAD %s, with the path at fault', async (_what, change) => {
    const { problem, inspected } = await judge(change);
    expect(problem).toMatchObject({ field: 'path', message: expect.stringMatching(/repository/) });
    expect(inspected.problems).toEqual([problem]);
  });

  it('names a damaged HEAD, and does not advise git init where a repository is', async () => {
    const { problem } = await judge(head('garbage\n'));
    expect(problem?.message).toMatch(/^Git refuses the repository at .*: its HEAD or its configuration is damaged/);
  });

  const branches: [string, (path: string) => Promise<unknown>][] = [
    ['holds no commit', (path) => writeFile(join(path, '.git/refs/heads/main'), 'zzz\n')],
    ['leads to itself', (path) => writeFile(join(path, '.git/refs/heads/main'), 'ref: refs/heads/main\n')],
    ['is a commit that is missing', (path) => writeFile(join(path, '.git/refs/heads/main'), `${'1'.repeat(40)}\n`)],
  ];

  it.each(branches)('refuses a default branch that %s', async (_what, change) => {
    const { problem } = await judge(change, 'main');
    expect(problem).toMatchObject({ field: 'defaultBranch', message: expect.stringMatching(/has no branch main/) });
  });

  it.each(['--upload-pack=/x', '-x', 'main..x', 'a b', '@', 'HEAD', 'main:a', 'main^{commit}', '../x'])(
    'refuses the default branch %s, which no remote can have either',
    async (name) => {
      const askRemotes = { remote: 'origin', askRemotes: true };
      const addRemote = (path: string) => sh(path, 'remote', 'add', 'origin', path);
      const { problem, inspected } = await judge(addRemote, name, askRemotes);
      expect(problem).toEqual({ field: 'defaultBranch', message: 'must be the name of a branch' });
      expect(inspected.problems).toEqual([problem]);
    },
  );
});
