import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { CommitPolicy } from '../../../contracts/common';
import { eventually } from '../../../platform/testing/eventually';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import { aWorktree, type GitFixture, put, sh } from '../git/git-fixture';
import { aDispatch, agentConfig, RecordingSink } from './agent-fixture';

const provider = createProcessProvider();
const never = new AbortController().signal;
const example = (name: string) => resolve(__dirname, '../../../examples/agent', name);
let at: GitFixture;

beforeEach(async () => {
  at = await aWorktree();
});
afterEach(() => at.directory.remove());

async function aTask(description: string, commitPolicy: CommitPolicy = 'allowed', args: string[] = []) {
  const objective = { title: 'Helpers', description, subtasks: [] as { title: string; completed: boolean }[] };
  return aDispatch(at.directory, '', {
    agent: agentConfig(process.execPath, [example('agent.mjs'), ...args]),
    worktreePath: at.worktree,
    transport: {
      schemaVersion: 'provider-task-envelope-transport/v1',
      envelope: { objective, commitPolicy },
      sections: [],
    },
  });
}

describe('the example agent', () => {
  it('completes a list with tests and commits it', async () => {
    const { worktree } = at;
    await put(worktree, { 'TODO.md': '# To do\n\n- [ ] add slugify(text): for URLs\n- [x] add sum(numbers)\n' });
    const sink = new RecordingSink();
    const outcome = await provider.run(await aTask('- [ ] add area(width, height): width * height'), sink, never);

    expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0 });
    expect(outcome.result).toMatchObject({
      status: 'success',
      verification: [{ gateId: 'tests', status: 'passed' }],
      evidence: expect.arrayContaining([expect.objectContaining({ kind: 'commit' })]),
      blockers: [],
    });
    expect(outcome.error).toBeUndefined();
    expect(sink.kinds()).not.toContain('provider.unknown');
    expect(await readFile(join(worktree, 'TODO.md'), 'utf8')).toContain('- [x] add slugify(text)');
    expect(await sh(worktree, 'log', '--format=%an: %s', '-1')).toBe('Example Agent: Add slugify, area\n');
    expect(await sh(worktree, 'status', '--porcelain')).toBe('');
    await promisify(execFile)(process.execPath, ['--test', 'src/helpers.test.mjs'], { cwd: worktree });
  });

  it('does not commit when it must not, and reports what it cannot do', async () => {
    const sink = new RecordingSink();
    const task = await aTask(
      '- [ ] add clamp(value, low, high)\n- [ ] write a novel\n- [ ] add f(a): a a',
      'forbidden',
    );
    const { result } = await provider.run(task, sink, never);
    expect(result?.status).toBe('partial');
    expect(result?.blockers?.map(({ summary }) => summary)).toEqual([
      expect.stringContaining('write a novel'),
      expect.stringContaining('add f(a)'),
    ]);
    expect((await sh(at.worktree, 'rev-parse', 'HEAD')).trim()).toBe(at.baseSha);
  });

  it('is blocked by a list it knows nothing of', async () => {
    const { result } = await provider.run(await aTask('- [ ] write a novel'), new RecordingSink(), never);
    expect(result).toMatchObject({ status: 'blocked', blockers: [{ code: 'unknown-item' }] });
  });

  it('stops when it is asked to', async () => {
    const stop = new AbortController();
    const sink = new RecordingSink();
    const task = await aTask('- [ ] add sum(numbers)', 'allowed', ['--step-delay-ms', '60000']);
    const run = provider.run({ ...task, stopGraceMs: 10_000 }, sink, stop.signal);
    await eventually(() => expect(sink.kinds()).toContain('progress'));
    stop.abort();
    expect(await run).toMatchObject({ ended: 'stopped', exitCode: 0, result: { status: 'partial' } });
  });
});

it('an agent in twenty lines of shell works as well', async () => {
  const objective = { title: 'Remember the milk', description: '', subtasks: [] };
  const dispatch = await aDispatch(at.directory, '', {
    agent: agentConfig(example('notes.sh'), []),
    worktreePath: at.worktree,
    transport: { envelope: { objective } },
  });
  const outcome = await provider.run(dispatch, new RecordingSink(), never);
  expect(outcome).toMatchObject({ ended: 'exit', exitCode: 0, result: { status: 'success' } });
  expect(await readFile(join(at.worktree, 'NOTES.md'), 'utf8')).toBe('* Remember the milk (task_20260101_fixture)\n');
});
