import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Answer, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let repository: string;
/** Begins first, because its time is over after that of all others. */
let endless: ReturnType<typeof run>;

const ways = ['exits-1', 'silent', 'works-silently', 'garbage', 'flood', 'never-ends', 'commits', 'strays'];

/** As short as an agent can live. */
const printsAndGoes = {
  type: 'prints-and-goes',
  name: 'Prints and goes',
  provider: 'process',
  command: '/bin/sh',
  args: ['-c', `echo '{"type":"result","status":"failed","summary":"Gone wrong."}'`],
};

beforeAll(async () => {
  stack = await startStack({ BOARD_RUN_TIMEOUT_MS: '15000', BOARD_RUN_OUTPUT_LIMIT_BYTES: '200000' });
  repository = await aRepository(stack.dir);
  await stack.call.addRepository('sample', repository);
  const misbehaving = ways.map((way) => ({ ...scriptAgent('misbehaving', way), type: way }));
  await stack.call.configureAgents([...misbehaving, printsAndGoes]);
  endless = run('never-ends');
  // Its own test checks whether it fails.
  endless.catch(() => undefined);
});

afterAll(() => stack.close());

/** Runs the agent to its end and returns its completion and events. */
async function run(agent: string, body: object = {}) {
  const task = await stack.call.createTask({ title: agent, git: { repo: 'sample' } });
  const { attemptId } = await stack.call.start(task.id, { agent, ...body });
  const { attempt } = await stack.call.ended(task.id);
  const events = await stack.call.events(task.id, attemptId);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  return { completion: attempt.completion, events, task: await stack.call.ok('GET', `/api/tasks/${task.id}`) };
}

describe('agents that misbehave', () => {
  test('an agent that exits with 1 has failed, with its exit code and its last words', async () => {
    const { completion, events, task } = await run('exits-1');
    expect(completion).toMatchObject({
      status: 'failed',
      harness: { exitCode: 1 },
      error: 'The agent exited with code 1. Its last words: Error: no such model',
    });
    expect(events.at(-1)).toMatchObject({ kind: 'run.failed' });
    expect(task).toMatchObject({
      status: 'in-progress',
      attempt: { status: 'failed', result: 'failed', cause: 'no such model' },
    });
    const { failure } = await stack.call.status(task.id);
    expect(failure).toMatchObject({ cause: 'no such model' });
    const log = await (await fetch(`${stack.url}${failure.log}`)).text();
    expect(log).toContain('no such model');
    const last = await (await fetch(`${stack.url}${failure.log.replace(/last=.*/, 'last=1')}`)).text();
    expect(log.endsWith(last)).toBe(true);
    expect(last.length).toBeLessThan(log.length);
    expect(await stack.call.get(`${failure.log}&afterSequence=1`)).toMatchObject({ status: 400 });
  });

  test('an agent that exits with 0 without a result has succeeded by the work in its worktree, or else is partial', async () => {
    const [idle, worked] = await Promise.all([run('silent'), run('works-silently')]);
    expect(idle.completion).toMatchObject({
      status: 'partial',
      harness: { exitCode: 0, unreported: true },
      downgrades: [{ code: 'result-missing' }],
    });
    expect(idle.task).toMatchObject({ status: 'in-progress' });
    expect(worked.completion).toMatchObject({ status: 'success', harness: { unreported: true }, downgrades: [] });
  });

  test('an agent that reads nothing, prints a failed result and exits with 0 has failed', async () => {
    const runs = await Promise.all(Array.from({ length: 10 }, () => run('prints-and-goes')));
    for (const { completion, task } of runs) {
      expect(completion).toMatchObject({ status: 'failed', summary: 'Gone wrong.', harness: { exitCode: 0 } });
      expect(task).toMatchObject({ status: 'in-progress' });
    }
  });

  test('garbage is kept as output and pollutes nothing', async () => {
    const { completion, events } = await run('garbage');
    expect(completion.status).toBe('partial');
    expect(events.filter(({ kind }) => kind === 'stream.stdout').length).toBeGreaterThan(2);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('a flood of 100 MiB is drained, counted and cut off with one event that reports it', async () => {
    const { completion, events } = await run('flood');
    expect(completion).toMatchObject({ status: 'partial', harness: { outputBytes: 100 * 1_048_576 } });
    const bytes = events.reduce((sum, event) => sum + event.redaction.persistedBytes, 0);
    expect(bytes).toBeLessThan(400_000);
    expect(events.filter(({ payload }) => payload.truncated === true)).toHaveLength(1);
  });

  test('an agent that never ends is ended when its time is over, also when it ignores SIGTERM', async () => {
    const { completion } = await endless;
    expect(completion).toMatchObject({ status: 'failed', harness: { ended: 'timeout' } });
  });

  test('a claimed success that broke the commit policy becomes partial', async () => {
    const { completion, task } = await run('commits', { commitPolicy: 'forbidden' });
    expect(completion).toMatchObject({
      status: 'partial',
      claimedStatus: 'success',
      downgrades: [{ code: 'commit-policy-violated' }],
      sideEffects: expect.arrayContaining([expect.objectContaining({ kind: 'git-commit', authorized: false })]),
    });
    expect(task).toMatchObject({ status: 'in-progress' });
  });

  test('what is changed outside the worktree is reported and stored as evidence, and is not reverted', async () => {
    const { completion, events } = await run('strays');
    const path = await realpath(repository);
    const changes = [
      { what: 'primary-files', target: path },
      { what: 'ref', target: 'refs/heads/hidden', before: null },
      { what: 'ref', target: 'refs/heads/stray', before: null },
      { what: 'worktree', target: `${path}-hidden`, before: null },
    ];
    expect(completion.harness.outside.map(({ what, target }: Answer['body']) => `${what} ${target}`).sort()).toEqual(
      changes.map(({ what, target }) => `${what} ${target}`),
    );
    expect(events.filter(({ payload }) => payload.code === 'OUTSIDE_CHANGED')).toEqual([
      expect.objectContaining({
        kind: 'run.error',
        payload: expect.objectContaining({ changes: expect.arrayContaining([expect.objectContaining(changes[0])]) }),
      }),
    ]);
    expect(existsSync(join(path, 'stray.txt'))).toBe(true);
  });

  test('runs that work beside each other in one repository do not report each other', async () => {
    const ends = await Promise.all([run('commits'), run('commits'), run('silent')]);
    for (const { completion, events } of ends) {
      expect(completion.harness.outside).toBeUndefined();
      expect(events.map(({ kind }) => kind)).not.toContain('run.error');
    }
  });

  test('a run whose required commit is missing becomes partial', async () => {
    const { completion } = await run('silent', { commitPolicy: 'required' });
    expect(completion).toMatchObject({
      status: 'partial',
      downgrades: [{ code: 'result-missing' }, { code: 'commit-missing' }],
    });
  });
});
