import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { sweepWorkspaces } from '../../../../services/workflow-runs/commands/sweep';
import { aPresetsFile } from '../commands-under-test';
import { aRunClient, type RunClient } from '../runs/run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';
import { openStoredRuns } from '../stored-runs';

let service: WorkflowRunsUnderTest;
let runs: RunClient;
let file: Awaited<ReturnType<typeof aPresetsFile>>;
let directory: TempDir;
let first: string;
const git = (...args: string[]): string =>
  String(
    execFileSync('git', [
      '-C',
      join(directory.path, 'app'),
      '-c',
      'user.name=T',
      '-c',
      'user.email=t@localhost',
      ...args,
    ]),
  ).trim();
beforeAll(async () => {
  directory = await makeTempDir('repository');
  const path = join(directory.path, 'app');
  await mkdir(join(path, 'src'), { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(path, 'src', 'a.txt'), 'one\n');
  await writeFile(join(path, 'old.txt'), 'old\n');
  await writeFile(join(path, '.gitignore'), 'ignored\n');
  git('add', '-A');
  git('commit', '--quiet', '-m', 'First');
  first = git('rev-parse', 'HEAD');
  await writeFile(join(path, 'src', 'a.txt'), 'two\n');
  git('commit', '--quiet', '-am', 'Second');
  file = await aPresetsFile();
  service = await startServiceUnderTest({ ...file.settings, WORKFLOW_RUNS_REPOSITORIES: `app=${path}` });
  runs = aRunClient(service);
});
afterAll(async () => {
  await service.close();
  await file.close();
  await directory.remove();
});

const sh = (script: string): string => `"${JSON.stringify(['sh', '-c', script]).replaceAll('"', '\\"')}"`;
const start = async (dot_source: string, repository?: object): Promise<string> => {
  const { status, body } = await service.call('POST', '/runs', { dot_source, ...(repository && { repository }) });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
};
const changed = async (id: string, checkpoint?: string): Promise<Record<string, [string, string]>> => {
  const { data } = await runs.get(`/runs/${id}/files${checkpoint === undefined ? '' : `?checkpoint=${checkpoint}`}`);
  return Object.fromEntries(
    data.map(({ old_file, new_file }: { old_file: File; new_file: File }) => [
      new_file.name,
      [old_file.contents, new_file.omitted ?? new_file.contents],
    ]),
  );
};
interface File {
  name: string;
  contents: string;
  omitted?: string;
}

describe('a run with a repository', () => {
  const edit = `digraph { start -> see -> edit -> more -> exit
    see [type=command, command="cat src/a.txt"]
    edit [type=command, command=${sh('echo three > src/a.txt; rm old.txt; mkdir ignored; touch ignored/x')}]
    more [type=command, command=${sh('echo new > new.txt; chmod +x new.txt; ln -s /etc/passwd link')}] }`;

  it('begins with the files of its base, and its checkpoints list what has changed since', async () => {
    const id = await start(edit, { name: 'app' });
    await runs.untilStatus(id, 'completed');
    const commit = git('rev-parse', 'HEAD');
    expect(await runs.get(`/runs/${id}`)).toMatchObject({ repository: { name: 'app', base: 'HEAD', commit } });
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({ see_output: 'two' });
    expect(await changed(id, 'see.1')).toEqual({});
    expect(await changed(id, 'edit.1')).toEqual({ 'old.txt': ['old\n', ''], 'src/a.txt': ['two\n', 'three\n'] });
    const all = {
      ...{ 'old.txt': ['old\n', ''], 'src/a.txt': ['two\n', 'three\n'], 'new.txt': ['', 'new\n'] },
      link: ['', '/etc/passwd'],
    };
    expect(await changed(id)).toEqual(all);
    const { git_commit_sha: sha } = await runs.get(`/runs/${id}/checkpoint`);
    expect(sha).toMatch(/^[0-9a-f]{40}$/);
    expect((await runs.get(`/runs/${id}/checkpoint?checkpoint=see.1`)).git_commit_sha).toBe(commit);
    const retro = await runs.get(`/runs/${id}/retro`);
    expect(retro.stats.files_touched).toEqual(['link', 'new.txt', 'old.txt', 'src/a.txt']);
    expect(retro.stages.find(({ stage_id }: { stage_id: string }) => stage_id === 'edit').files_touched).toEqual([
      ...['old.txt', 'src/a.txt'],
    ]);
    // The repository itself is as it was.
    expect(git('status', '--porcelain')).toBe('');
    expect(git('rev-parse', 'HEAD')).toBe(commit);
  });

  it('begins with another base, also one that no branch has at its tip', async () => {
    const id = await start(edit, { name: 'app', base: first });
    await runs.untilStatus(id, 'completed');
    expect(await runs.get(`/runs/${id}/context`)).toMatchObject({ see_output: 'one' });
    expect(await changed(id, 'edit.1')).toMatchObject({ 'src/a.txt': ['one\n', 'three\n'] });
  });

  it.each([
    ['a repository that is not configured', { name: 'other' }, 'repository: There is no repository "other".'],
    ['a base that is not there', { name: 'app', base: 'gone' }, 'repository: Repository "app" has no commit "gone".'],
    [
      'a base that is an option',
      { name: 'app', base: '--help' },
      'repository: Repository "app" has no commit "--help".',
    ],
  ])('is refused for %s', async (_case, repository, detail) => {
    expect(await service.call('POST', '/runs', { dot_source: edit, repository })).toMatchObject({
      ...{ status: 400, body: { errors: [{ detail }] } },
    });
  });

  it('is refused without commands', async () => {
    const dot_source = 'digraph { start -> exit }';
    expect(await service.call('POST', '/runs', { dot_source, repository: { name: 'app' } })).toMatchObject({
      ...{ status: 400, body: { errors: [{ detail: 'repository: the graph has no commands, which work in it.' }] } },
    });
  });
});

describe('the setup of a run', () => {
  const graph = 'digraph { start -> see -> exit; see [type=command, command="cat made"] }';
  const create = (setup: object) =>
    service.call('POST', '/runs', { dot_source: graph, repository: { name: 'app' }, vars: { who: 'a b' }, setup });

  it('runs its commands before the first node, in the workspace', async () => {
    const setup = {
      commands: [
        ['sh', '-c', 'cat src/a.txt > made'],
        ['sh', '-c', 'echo "$0" >> made', '${who}'],
      ],
      timeout_ms: 60_000,
    };
    const { body } = await create(setup);
    await runs.untilStatus(body.id, 'completed');
    expect(await runs.get(`/runs/${body.id}/context`)).toMatchObject({
      see_output: 'two\na b',
      last_output: 'two\na b',
    });
    expect((await runs.stages(body.id)).map(({ id, parent, status }) => ({ id, parent, status }))).toEqual([
      { id: 'setup:0', parent: 'setup', status: 'completed' },
      { id: 'setup:1', parent: 'setup', status: 'completed' },
      ...['start', 'see', 'exit'].map((id) => ({ id, parent: undefined, status: 'completed' })),
    ]);
    expect(await runs.get(`/runs/${body.id}/configuration`)).toMatchObject({ setup });
    expect((await runs.get(`/runs/${body.id}/stages/setup:0/turns`)).data).toMatchObject([{ kind: 'tool' }]);
  });

  it('fails the run when one of them fails, and ends with it', async () => {
    const { body } = await create({
      commands: [
        ['sh', '-c', 'echo no >&2; exit 3'],
        ['touch', 'later'],
      ],
    });
    expect(await runs.untilStatus(body.id, 'failed')).toMatchObject({
      error: { message: 'Its setup failed: It ended with exit code 3. no' },
    });
    expect(await runs.stages(body.id)).toMatchObject([{ id: 'setup:0', status: 'failed' }]);
    const { body: long } = await create({ commands: [['sleep', '100']] });
    // Also while the command is only about to begin.
    await runs.untilStatus(long.id, 'running');
    await runs.post(`/runs/${long.id}/cancel`, {}, 200);
    expect(await runs.stages(long.id)).toMatchObject([{ id: 'setup:0', status: 'cancelled' }]);
    const { body: slow } = await create({ commands: [['sleep', '100']], timeout_ms: 1_000 });
    expect(await runs.untilStatus(slow.id, 'failed')).toMatchObject({
      error: { message: 'Its setup failed: It was ended when its time was over.' },
    });
  });

  it('is refused when its program is a value', async () => {
    expect(await create({ commands: [['ls'], ['${who}']] })).toMatchObject({
      ...{
        status: 400,
        body: { errors: [{ detail: expect.stringContaining('setup.commands.1.0: the program must') }] },
      },
    });
  });
});

describe('the commits of a workspace', () => {
  it('hold no data of nested repositories, and run nothing that a command has configured', async () => {
    const mark = join(directory.path, 'ran');
    const hostile = [
      `git init -q .; git config core.fsmonitor 'touch ${mark}'; git config core.hooksPath .`,
      `git init -q sub; git -C sub config core.fsmonitor 'touch ${mark}'; echo x > sub/f`,
      `echo '* filter=f diff=f' > .gitattributes; git config filter.f.clean 'touch ${mark}'`,
      `echo '#!/bin/sh' > pre-commit; echo 'touch ${mark}' >> pre-commit; chmod +x pre-commit; echo ok > file`,
    ].join('; ');
    const id = await start(`digraph { start -> a -> exit; a [type=command, command=${sh(hostile)}] }`);
    await runs.untilStatus(id, 'completed');
    const files = await changed(id, 'a.1');
    expect(Object.keys(files)).toEqual(expect.arrayContaining(['.gitattributes', 'file', 'pre-commit']));
    expect(Object.keys(files).filter((name) => name.includes('.git/') || name.endsWith('.git'))).toEqual([]);
    expect(existsSync(mark)).toBe(false);
  });

  it('are left out when the workspace has too much, and the run continues', async () => {
    const script = 'i=0; while [ $i -lt 10100 ]; do : > f$i; i=$((i+1)); done';
    const id = await start(`digraph { start -> a -> exit; a [type=command, command=${sh(script)}] }`);
    await runs.untilStatus(id, 'completed');
    expect(await runs.events(id)).toContainEqual({
      SnapshotFailed: { stage_id: 'a', reason: 'The workspace has more than 10000 files.' },
    });
    const refusal = await service.call('GET', `/runs/${id}/files?checkpoint=a.1`);
    expect(refusal).toMatchObject({ status: 404 });
  });

  it('are removed with the workspace', async () => {
    const id = await start(`digraph { start -> a -> exit; a [type=command, command="touch x"] }`);
    await runs.untilStatus(id, 'completed');
    expect(await changed(id, 'a.1')).toEqual({ x: ['', ''] });
    const { runs: stored, database } = await openStoredRuns(service);
    try {
      const now = () => new Date(Date.now() + 120_000);
      const endUse = () => Promise.resolve();
      const snapshots = join(service.dataDir, 'workflow-runs', 'snapshots');
      await sweepWorkspaces({ directory: snapshots, retentionMs: 60_000, runs: stored, endUse, now });
      expect(existsSync(join(snapshots, id))).toBe(false);
    } finally {
      await database.close();
    }
    const { status, body } = await service.call('GET', `/runs/${id}/files?checkpoint=a.1`);
    expect({ status, body }).toMatchObject({
      ...{ status: 404, body: { errors: [{ detail: 'The commits of the run do not exist any more.' }] } },
    });
  });
});
