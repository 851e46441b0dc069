import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findByEnvironment } from '../../../platform/processes/identity';
import { makeFilesPrivate } from '../../../platform/processes/operator-umask';
import { eventually } from '../../../platform/testing/eventually';
import { findAgentUser } from '../../../providers/agents/user/agent-user';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

/** A user without a name, so that nothing depends on who is on this machine. */
const user = { uid: 54_321, gid: 54_321 };

function canChangeUsers(): boolean {
  try {
    return findAgentUser(String(user.uid)).uid === user.uid;
  } catch {
    return false;
  }
}
const whereRoot = canChangeUsers() ? describe : describe.skip;

const print = (fields: string) => `printf '%s\\n' '${fields}'`;

whereRoot('agents that run as another user', () => {
  let stack: Stack;
  let repository: string;

  /** What operators usually have. */
  const umask = 0o022;

  beforeAll(async () => {
    // As every process of the service begins.
    makeFilesPrivate();
    stack = await startStack({ BOARD_AGENT_USER: String(user.uid) });
    // Test directories are closed to other users; an operator's parent directories are not.
    chmodSync(stack.dir, 0o711);
    // The repository is an operator's.
    const ours = process.umask(umask);
    repository = await aRepository(stack.dir);
    await shareWith(user.gid, repository);
    process.umask(ours);
    await stack.call.addRepository('sample', repository);
    await stack.call.configureAgents([
      agent('curious', curious),
      agent('worker', worker),
      agent('planter', planter),
      agent('patient', `read -r task; ${print('{"type":"progress","message":"here"}')}; sleep 600 & wait`),
      { ...agent('versioned', worker), versionArgs: ['-c', 'id -u'], reattach: true },
    ]);
  });
  afterAll(async () => {
    process.umask(umask);
    await stack.close();
  });

  const agent = (type: string, script: string) => ({
    type,
    name: type,
    provider: 'process',
    command: '/bin/sh',
    args: ['-c', script],
  });
  const worker = `read -r task; echo work > work.txt; git add work.txt
    git -c user.name=Agent -c user.email=agent@example.com commit -qm 'Work' || exit 1
    ${print('{"type":"result","status":"success","summary":"committed"}')}`;
  const curious = `read -r task
    echo "user $(id -u) $(id -g) groups $(id -G) home $HOME tmp \${TMPDIR:-none}"
    tr '\\0' '\\n' < /proc/$PPID/environ && echo 'read the environment of the worker'
    data=$(dirname "$(dirname "$(dirname "$BOARD_TASK_ENVELOPE")/x")")
    ls "$data" && echo 'listed the data directory'
    grep -q attemptId "$BOARD_TASK_ENVELOPE" && echo 'read its envelope'
    kill -0 $PPID && echo 'may signal the worker'
    cd / ; for file in $(cat /dev/fd/0); do head -c 1 "$file" > /dev/null && echo "read $file"; done`;
  const planter = `read -r task; dir=$(git rev-parse --absolute-git-dir)
    rm "$dir/index"; ln -s /etc/hostname "$dir/index"; ln -s /etc "$dir/more"
    echo x > planted.txt; ln -s /etc/passwd link; chmod 777 .
    ${print('{"type":"result","status":"success","summary":"planted"}')}`;

  const aTask = (fields: object = {}) => stack.call.createTask({ title: 'Do it', git: { repo: 'sample' }, ...fields });
  const texts = async (taskId: string, attemptId: string): Promise<string[]> =>
    (await stack.call.events(taskId, attemptId)).map(({ payload }) => String(payload.text ?? ''));

  it('are that user, with its groups and home, and read nothing of the worker', async () => {
    const task = await aTask();
    const { attemptId } = await stack.call.start(task.id, { agent: 'curious' });
    await stack.call.ended(task.id);
    const printed = (await texts(task.id, attemptId)).join('\n');
    expect(printed).toContain(`user ${user.uid} ${user.gid} groups ${user.gid} home / tmp none`);
    expect(printed).toContain('read its envelope');
    expect(printed).not.toMatch(/read the environment|listed the data|may signal/);
  });

  it('can read no store, whose files are the worker’s', async () => {
    const task = await aTask();
    await stack.call.start(task.id, { agent: 'worker' });
    await stack.call.ended(task.id);
    const data = join(stack.dir, 'data');
    const files = readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && !file.parentPath.includes('worktrees'))
      .map((file) => join(file.parentPath, file.name));
    expect(files.length).toBeGreaterThan(3);
    const reader = ['--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups', 'head', '-c1', '--'];
    const readable = files.filter((file) => {
      try {
        execFileSync('setpriv', [...reader, file], { stdio: 'ignore' });
        return true;
      } catch {
        return false;
      }
    });
    expect(readable).toEqual([]);
    expect(lstatSync(data).mode & 0o777).toBe(0o710);
  });

  it('are confined by a sandbox preset as that user, by its proxy too, and commit on their branch', async () => {
    const hosts = { defaultEgress: 'deny', allowedHosts: ['example.org'] };
    const body = { id: 'boxed', name: 'Boxed', filesystem: { deniedPaths: ['README.md'] }, network: hosts };
    await stack.call.ok('POST', '/api/sandbox-policies', body);
    const task = await aTask({ executionPolicy: { commitPolicy: 'required' } });
    const { attemptId } = await stack.call.start(task.id, { agent: 'worker', sandboxPresetId: 'boxed' });
    const { attempt, taskEnvelope } = await stack.call.ended(task.id);
    if (attempt.completion.status !== 'success') {
      throw new Error((await texts(task.id, attemptId)).join('\n'));
    }
    expect(attempt.completion).toMatchObject({
      harness: { commits: [{ subject: 'Work' }], sandbox: { network: 'proxy', presetId: 'boxed' } },
    });
    expect(await git(repository, 'log', '-1', '--format=%an', taskEnvelope.workspace.branch)).toBe('Agent');
  });

  it('commit on their branch, and the worktree is the worker’s again afterwards', async () => {
    const task = await aTask({ executionPolicy: { commitPolicy: 'required' } });
    await stack.call.start(task.id, { agent: 'worker' });
    const { attempt, taskEnvelope } = await stack.call.ended(task.id);
    if (attempt.completion.status !== 'success') {
      throw new Error((await texts(task.id, attempt.id)).join('\n'));
    }
    expect(attempt.completion).toMatchObject({ status: 'success', harness: { commits: [{ subject: 'Work' }] } });
    const { path, branch } = taskEnvelope.workspace;
    expect(await git(repository, 'log', '-1', '--format=%an', branch)).toBe('Agent');
    for (const name of ['.', 'work.txt', '.git']) {
      expect(lstatSync(join(path, name)).uid).toBe(0);
    }
    // And once more on the same worktree.
    await stack.call.start(task.id, { agent: 'versioned' });
    const again = await stack.call.ended(task.id);
    expect(again.attempt.attemptId ?? again.attempt.id).not.toBe(attempt.id);
    expect(again.providerRuntimeManifest).toMatchObject({ providerVersion: String(user.uid) });
    const reattach = again.providerRuntimeManifest.capabilities.find(({ id }: { id: string }) => id === 'run.reattach');
    expect(reattach?.state).not.toBe('supported');
  });

  it('leave no link among the files of git, and nothing behind their links is touched', async () => {
    const task = await aTask();
    const before = lstatSync('/etc/hostname');
    await stack.call.start(task.id, { agent: 'planter' });
    const { taskEnvelope } = await stack.call.ended(task.id);
    const { path } = taskEnvelope.workspace;
    expect(lstatSync(join(path, 'planted.txt')).uid).toBe(0);
    expect(lstatSync(join(path)).mode & 0o022).toBe(0);
    expect(lstatSync('/etc/passwd').uid).toBe(0);
    const after = lstatSync('/etc/hostname');
    expect([after.uid, after.mode, after.mtimeMs]).toEqual([before.uid, before.mode, before.mtimeMs]);
    const gitDir = await git(path, 'rev-parse', '--absolute-git-dir');
    expect(readdirSync(gitDir, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())).toEqual([]);
  });

  it('are stopped with what they have started', async () => {
    const task = await aTask();
    const { attemptId } = await stack.call.start(task.id, { agent: 'patient' });
    await eventually(async () => expect((await findByEnvironment('BOARD_ATTEMPT_ID', attemptId)).length).toBe(2));
    await stack.call.ok('POST', `/api/agents/${task.id}/stop`, { attemptId });
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', attemptId)).toEqual([]);
  });
});

/** What an operator does to a repository that agents of another user commit to. */
async function shareWith(gid: number, repository: string): Promise<void> {
  await git(repository, 'config', 'core.sharedRepository', 'group');
  mkdirSync(join(repository, '.git', 'worktrees'), { mode: 0o755 });
  const dirs = ['objects', 'refs', 'logs'].map((name) => join(repository, '.git', name)).filter(existsSync);
  execFileSync('chgrp', ['-R', String(gid), ...dirs]);
  execFileSync('chmod', ['-R', 'g+rwX', ...dirs]);
  execFileSync('find', [...dirs, '-type', 'd', '-exec', 'chmod', 'g+s', '{}', '+']);
}

describe('the setting BOARD_AGENT_USER', () => {
  it.each([
    ['no-such-user-here', /there is no user|needs|has to be root/],
    ['root', /root|needs/],
    ['0', /there is no user|root|needs/],
  ])('is refused at the start with %s', (name, message) => {
    expect(() => findAgentUser(name)).toThrow(message);
  });
});
