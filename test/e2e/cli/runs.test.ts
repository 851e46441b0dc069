import { runboard } from '../../cli/terminal';
import { scriptAgent } from '../../support/caller';
import { anApprovalRequest } from '../../support/factories/approval';
import { aRepository } from '../../support/git/repository';
import { mongoSettings } from '../../support/mongo-settings';
import { aRequester, aWaitingRun, type Requester } from '../../support/runs/approvals';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let requester: Requester;
let environment: Record<string, string>;
beforeAll(async () => {
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    scriptAgent('as-told'),
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
  requester = await aRequester(stack.temporal, {
    dataDir: stack.env.BOARD_DATA_DIR,
    mongoUrl: mongoSettings().MONGODB_URL,
  });
  environment = { XDG_CONFIG_HOME: stack.dir, RUNBOARD_URL: stack.url, RUNBOARD_KEY: stack.env.BOARD_ADMIN_KEY ?? '' };
});
afterAll(async () => {
  await requester.close();
  await stack.close();
});

const run = (...args: string[]) => runboard(args, { environment });

/** A task that its agent does as it says. */
async function aTask(script: object): Promise<string> {
  const created = await run('task', 'new', 'Work', '--repo', 'sample', '-d', JSON.stringify(script));
  return created.output.split(' ')[0] ?? '';
}

describe('the command runboard with agents', () => {
  it('starts a run, prints its events to its end, and shows its status, log and diff', async () => {
    const result = { status: 'success', summary: 'All done' };
    const say = [{ type: 'progress', message: 'half way', percent: 50 }];
    const task = await aTask({ files: { 'new.txt': 'one\n' }, commit: 'Work', say, result });
    const started = await run('run', 'start', task, '--agent', 'as-told', '--watch');
    expect(started).toMatchObject({ code: 0, errors: '' });
    expect(started.output).toContain('██████████░░░░░░░░░░ 50 %  half way');
    expect(started.output).toMatch(/run\.completed.*\n$/);
    expect((await run('run', 'status', task)).output).toMatch(/^attempt_\w+ {2}success {2}as-told\nAll done\n$/);
    expect((await run('run', 'logs', task)).output).toContain('half way');
    const diff = await run('run', 'diff', task);
    expect(diff.output).toContain('+++ new.txt\n@@ -0,0 +1,1 @@\n+one\n');
    expect(diff.errors).toBe('1 files, +1 -0\n');
    expect(await run('run', 'steer', task, 'Go left')).toMatchObject({ code: 5, output: '' });
  });

  it('shows the tree of a run, and what there is when there is none', async () => {
    const task = await aTask({ result: { status: 'success', summary: 'Alone' } });
    const started = await run('--json', 'run', 'start', task, '--agent', 'as-told');
    const { attemptId } = JSON.parse(started.output);
    expect((await run('run', 'watch', task)).code).toBe(0);
    const tree = await run('tree', attemptId);
    expect([tree.code, tree.errors]).toEqual([0, '']);
    expect(tree.output).toMatch(new RegExp(`^${attemptId}  \\w+  1 runs\\n${attemptId}  root  \\w+\\n$`));
    expect(await run('tree', 'attempt_nothing00001')).toMatchObject({ code: 3, output: '' });
  });

  it('starts one run for one idempotency key', async () => {
    const task = await aTask({ result: { status: 'success', summary: 'Once' } });
    const start = ['--json', 'run', 'start', task, '--agent', 'as-told', '--idempotency-key', `start-${task}`];
    const [first, second] = [await run(...start), await run(...start)].map(({ output }) => JSON.parse(output));
    expect(second.attemptId).toBe(first.attemptId);
  });

  it('ends with 10 when the run ends without success, and prints why', async () => {
    const task = await aTask({ result: { status: 'blocked', summary: 'No key', blockers: ['A key is missing'] } });
    const started = await run('run', 'start', task, '--agent', 'as-told', '--watch');
    expect(started.code).toBe(10);
    expect(await run('--json', 'run', 'watch', task)).toMatchObject({ code: 10, errors: '' });
  });

  it('stops a run, and decides exactly the action that was shown', async () => {
    const path = await aWaitingRun(stack.call);
    const request = anApprovalRequest(path, { action: 'rm -rf build\u001b[2K' });
    const approval = await requester.approvals.request(request);
    const listed = await run('approve');
    expect(listed.output).toContain(approval.id);
    expect(listed.output).not.toContain('\u001b');
    expect((await run('approve', approval.id, '--hash', 'ffff')).errors).toContain('another action');
    expect((await run('approve', approval.id, '--reject', '-m', 'No')).output).toContain('rejected');
    expect(await run('approve', approval.id)).toMatchObject({ code: 5 });
    expect((await run('queue')).output).toContain('ID');
    expect((await run('run', 'stop', path.taskId)).output).toContain('interrupted');
    expect((await run('agents', 'list')).output).toContain('as-told');
    expect((await run('agents', 'presets')).output).toMatch(/^PRESET.*INSTALLED ON.*\n(?:.*\n)*claude +Claude Code /);
    expect((await run('agents', 'check', 'as-told')).output).toContain('installed');
  });
});
