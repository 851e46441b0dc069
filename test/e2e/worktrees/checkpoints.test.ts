import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let repository: string;

describe('checkpoints of a run', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_CHECKPOINT_INTERVAL_MS: '200' });
    repository = await aRepository(stack.dir);
    await stack.call.addRepository('sample', repository);
    await stack.call.configureAgents([scriptAgent('editor')]);
  });

  afterAll(() => stack.close());

  interface Run {
    taskId: string;
    attemptId: string;
    path: string;
  }

  async function launch(): Promise<Run> {
    const { id: taskId } = await stack.call.createTask({ title: 'Edit', git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(taskId, { agent: 'editor' });
    const { taskEnvelope } = await stack.call.status(taskId);
    // What the agent changes in its next turn is not to be taken for a change of the first.
    await eventually(async () =>
      expect(JSON.stringify(await stack.call.events(taskId, attemptId))).toContain('"ready"'),
    );
    return { taskId, attemptId, path: taskEnvelope.workspace.path };
  }
  const sendMessage = ({ taskId, attemptId }: Run, message: string) =>
    stack.call.ok('POST', `/api/agents/${taskId}/message`, { attemptId, message });
  const list = ({ taskId, attemptId }: Run, more = '') =>
    stack.call.ok('GET', `/api/agents/${taskId}/workspace/checkpoints?attemptId=${attemptId}${more}`);
  const stop = ({ taskId, attemptId }: Run) => stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });

  /** The checkpoints, once there are so many. */
  const checkpoints = (run: Run, count: number) =>
    eventually(
      async () => {
        const page = await list(run);
        expect(page.checkpoints).toHaveLength(count);
        return page.checkpoints;
      },
      { everyMs: 50 },
    );

  test('each turn that changed something leaves a checkpoint, with whose each change is', async () => {
    const run = await launch();
    await sendMessage(run, 'write a.txt one\nwrite b.txt two');
    const [first] = await checkpoints(run, 1);
    expect(first).toMatchObject({
      schemaVersion: 'workspace-checkpoint/v1',
      number: 1,
      parentId: null,
      turn: { sessionId: 's', turnId: 't1' },
    });

    // A person edits the same file that the agent then edits again, and one more.
    await writeFile(join(run.path, 'c.txt'), 'by hand\n');
    await sendMessage(run, 'delete b.txt\nsilently d.txt x\nwrite a.txt three');
    const all = await eventually(
      async () => {
        const page = await list(run);
        const changes = page.checkpoints.slice(1).flatMap((one: { changes: object[] }) => one.changes);
        expect(changes).toHaveLength(4);
        return page.checkpoints;
      },
      { everyMs: 50 },
    );
    const byPath = Object.fromEntries(
      all
        .flatMap((one: { changes: { path: string; attribution: string; status: string }[] }) => one.changes)
        .map(({ path, attribution, status }: { path: string; attribution: string; status: string }) => [
          path,
          `${status} ${attribution}`,
        ]),
    );
    expect(byPath).toEqual({
      'a.txt': 'modified agent',
      'b.txt': 'deleted agent',
      'c.txt': 'added unknown',
      'd.txt': 'added unknown',
    });
    expect(all.at(-1)).toMatchObject({ parentId: all.at(-2).id, turn: { sessionId: 's', turnId: 't2' } });
    expect(await git(repository, 'show', `${first.ref}:a.txt`)).toBe('one');
    expect(await git(repository, 'log', '--format=%s', `board/${run.taskId}`)).toBe('First');

    const events = await stack.call.events(run.taskId, run.attemptId);
    const reported = events.filter(({ kind }) => kind === 'workspace.checkpoint.created');
    expect(reported.map(({ payload }) => payload.checkpointId)).toEqual(all.map(({ id }: { id: string }) => id));
    expect(await list(run, '&limit=1')).toMatchObject({ checkpoints: [{ number: 1 }], hasMore: true });
    expect(await list(run, '&afterNumber=1')).toMatchObject({
      checkpoints: [{ number: 2 }, ...all.slice(2).map(() => ({}))],
    });
    await stop(run);
  });

  test('a file that a person changed after the agent did is attributed to neither', async () => {
    const run = await launch();
    await sendMessage(run, 'write b.txt two');
    await eventually(async () => {
      const events = await stack.call.events(run.taskId, run.attemptId);
      expect(events.map(({ kind }) => kind)).toContain('file.changed');
    });
    await writeFile(join(run.path, 'b.txt'), 'by hand\n');
    await sendMessage(run, 'write c.txt x');
    await eventually(
      async () => {
        const { checkpoints: all } = await list(run);
        const changes: { path: string; attribution: string }[] = all.flatMap(
          (one: { changes: object[] }) => one.changes,
        );
        expect(changes.findLast(({ path }) => path === 'b.txt')).toMatchObject({ attribution: 'unknown' });
      },
      { everyMs: 50 },
    );
    await stop(run);
  });

  test('an agent that changes nothing leaves no checkpoint', async () => {
    const run = await launch();
    await sendMessage(run, 'finish');
    await stack.call.ended(run.taskId);
    expect((await list(run)).checkpoints).toEqual([]);
  });
});
