import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptAgent } from '../../support/caller';
import { aRepository, git } from '../../support/git/repository';
import {
  anEditorRun,
  aTurn,
  decideApproval,
  type EditorRun,
  latestCheckpoint,
  requestRewind,
} from '../../support/git/rewinds';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('rewind of a worktree', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_CHECKPOINT_INTERVAL_MS: '200' });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([scriptAgent('editor')]);
  });

  afterAll(() => stack.close());

  type Run = EditorRun;
  const launch = () => anEditorRun(stack.call);
  const turn = (run: Run, instructions: string, holds: Record<string, string>) =>
    aTurn(stack.call, run, instructions, holds);
  const checkpoint = (run: Run) => latestCheckpoint(stack.call, run);
  const text = (run: Run, path: string) => readFile(join(run.path, path), 'utf8');
  const stop = ({ taskId, attemptId }: Run) => stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
  const rewind = (run: Run, ...rest: [{ id: string }, { id: string }, string, object[]?]) =>
    requestRewind(stack.call, run, ...rest);
  const decide = (approval: { id: string; revision: number; actionHash: string }, decision: string) =>
    decideApproval(stack.call, approval, decision);

  test('what the agent did goes back after an approval, and the agent is notified', async () => {
    const run = await launch();
    const target = await turn(run, 'write a.txt one', { 'a.txt': 'one' });
    const latest = await turn(run, 'write a.txt two\nwrite b.txt new', { 'a.txt': 'two', 'b.txt': 'new' });

    const first = await rewind(run, target, latest, 'request-1');
    expect(first).toMatchObject({
      status: 202,
      body: {
        status: 'approval-required',
        rewind: { state: 'planned', pathCount: 2 },
        approval: { status: 'pending', riskClass: 'critical', mobileSafe: false, actionClass: 'filesystem' },
      },
    });
    expect(await text(run, 'a.txt')).toBe('two\n');
    const again = await rewind(run, target, latest, 'request-1');
    expect(again.body.approval.id).toBe(first.body.approval.id);
    expect(await rewind(run, target, latest, 'request-1', [{ path: 'a.txt', decision: 'reject' }])).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });

    await decide(first.body.approval, 'approved');
    const done = await rewind(run, target, latest, 'request-1');
    expect(done).toMatchObject({
      status: 200,
      body: { status: 'committed', rewind: { state: 'committed', leftBehind: [] } },
    });
    const audit = `/api/audit?action=run.rewind&resource=${run.attemptId}`;
    expect(await stack.call.ok('GET', audit)).toMatchObject({ entries: [{ details: { checkpointId: target.id } }] });
    expect(await text(run, 'a.txt')).toBe('one\n');
    await expect(text(run, 'b.txt')).rejects.toThrow('ENOENT');
    expect(await git(run.path, 'show', `${done.body.rewind.keptRef}:b.txt`)).toBe('new');
    expect((await checkpoint(run)).changes.map(({ attribution }: { attribution: string }) => attribution)).toEqual([
      'operator',
      'operator',
    ]);
    const events = await stack.call.events(run.taskId, run.attemptId);
    expect(events.find(({ kind }) => kind === 'conversation.steered')).toMatchObject({
      payload: { message: expect.stringContaining(`turn ${target.turn.turnId}:`), delivered: true },
    });
    const repeated = await rewind(run, target, latest, 'request-1');
    expect(repeated).toMatchObject({
      status: 200,
      // eslint-disable-next-line id-denylist -- a public field
      body: { rewind: { id: done.body.rewind.id, thread: { told: true } } },
    });
    await stop(run);
  });

  test('a file that a person and the agent changed is a conflict until it is decided', async () => {
    const run = await launch();
    const target = await turn(run, 'write shared.txt one\nwrite mine.txt one', {
      'shared.txt': 'one',
      'mine.txt': 'one',
    });
    await turn(run, 'write shared.txt two\nwrite mine.txt two', { 'shared.txt': 'two', 'mine.txt': 'two' });
    await writeFile(join(run.path, 'shared.txt'), 'two\nand a line by hand\n');
    await writeFile(join(run.path, 'notes.txt'), 'by hand\n');
    const latest = await turn(run, 'write other.txt three', { 'other.txt': 'three', 'notes.txt': 'by hand' });

    const refused = await rewind(run, target, latest, 'request-2');
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'REWIND_CONFLICT',
        details: {
          pathCount: 2,
          paths: [
            { path: 'notes.txt', attribution: 'unknown' },
            { path: 'shared.txt', attribution: 'unknown', conflict: true },
          ],
        },
      },
    });
    expect(await rewind(run, target, latest, 'request-2', [{ path: 'README.md', decision: 'accept' }])).toMatchObject({
      status: 400,
    });
    const resolutions = [
      { path: 'notes.txt', decision: 'leave-untouched' },
      { path: 'shared.txt', decision: 'reject' },
    ];
    const planned = await rewind(run, target, latest, 'request-2', resolutions);
    expect(planned.status).toBe(202);
    await decide(planned.body.approval, 'approved');

    // What was approved is what is committed, or nothing.
    await writeFile(join(run.path, 'notes.txt'), 'changed after the approval\n');
    expect(await rewind(run, target, latest, 'request-2', resolutions)).toMatchObject({
      status: 409,
      body: { code: 'REWIND_DIVERGED', details: { parts: ['tree'], paths: ['notes.txt'] } },
    });
    await writeFile(join(run.path, 'notes.txt'), 'by hand\n');
    expect(await rewind(run, target, latest, 'request-2', [...resolutions].reverse())).toMatchObject({
      status: 200,
      body: { status: 'committed' },
    });
    expect(await text(run, 'shared.txt')).toBe('two\nand a line by hand\n');
    expect(await text(run, 'notes.txt')).toBe('by hand\n');
    expect(await text(run, 'mine.txt')).toBe('one\n');
    await expect(text(run, 'other.txt')).rejects.toThrow('ENOENT');
    await stop(run);
  });

  test('what was not approved is not done', async () => {
    const run = await launch();
    const target = await turn(run, 'write a.txt one', { 'a.txt': 'one' });
    const latest = await turn(run, 'write a.txt two', { 'a.txt': 'two' });
    const { body } = await rewind(run, target, latest, 'request-3');
    await decide(body.approval, 'rejected');
    expect(await rewind(run, target, latest, 'request-3')).toMatchObject({
      status: 409,
      body: { code: 'REWIND_REJECTED' },
    });
    expect(await text(run, 'a.txt')).toBe('two\n');
    await stop(run);
  });

  test('only a conversation that continues, and an earlier turn of it, can be gone back to', async () => {
    const run = await launch();
    const first = await turn(run, 'write a.txt one', { 'a.txt': 'one' });
    const latest = await turn(run, 'write a.txt two', { 'a.txt': 'two' });
    const code = async (...[target, descendant]: { id: string }[]) => {
      const { status, body } = await rewind(run, target!, descendant!, 'request-4');
      return `${status} ${body.code} ${body.details?.reason ?? ''}`.trim();
    };
    expect(await code(latest, first)).toBe('409 REWIND_UNSUPPORTED not-earlier');
    expect(await code({ id: 'checkpoint_nothing00_1' }, latest)).toBe('404 NOT_FOUND');
    const later = await turn(run, 'write a.txt three', { 'a.txt': 'three' });
    expect(await code(first, latest)).toBe('409 REWIND_DIVERGED');
    const url = `/api/agents/${run.taskId}/workspace/checkpoints/rewind`;
    const ids = { attemptId: run.attemptId, targetCheckpointId: first.id, descendantCheckpointId: later.id };
    expect(await stack.call.post(url, ids)).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'requestId' }] } },
    });
    expect(await stack.call.post(url, ids, { 'x-idempotency-key': 'by-header-1' })).toMatchObject({
      status: 202,
      body: { rewind: { requestId: 'by-header-1' } },
    });
    await stop(run);
    expect(await code(first, later)).toBe('409 REWIND_UNSUPPORTED not-running');
  });
});
