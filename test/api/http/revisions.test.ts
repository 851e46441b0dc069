import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';
import { agent, type VersionedRecord, versionedRecords } from './versioned-records';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
  await board.call('PUT', '/api/config/agents', { body: { agents: [agent('one')] } });
});
afterAll(() => board.close());

const paths = new Map<VersionedRecord, Promise<string>>();

/** One of each is made, and changed by all tests. */
function pathOf(record: VersionedRecord): Promise<string> {
  const path = paths.get(record) ?? make(record);
  paths.set(record, path);
  return path;
}

async function make({ at }: VersionedRecord): Promise<string> {
  if (typeof at === 'string') {
    return at;
  }
  const [template, body] = at.make;
  const path = template.includes('{taskId}') ? template.replace('{taskId}', (await board.createTask()).id) : template;
  const made = await board.call('POST', path, { body });
  expect([made.status, made.body.details ?? null]).toEqual([201, null]);
  return at.path?.(made.body) ?? `${path}/${made.body.id}`;
}

/** Changes a record as a writer who has seen a revision, or none. */
async function write(record: VersionedRecord, name: string, expected?: number) {
  const headers: Record<string, string> = expected === undefined ? {} : { 'X-Resource-Revision': String(expected) };
  const reply = await board.call(record.method, await pathOf(record), { body: record.write(name), headers });
  return { status: reply.status, body: reply.body, revision: Number(reply.headers.get('X-Resource-Revision')) };
}

describe.each(Object.entries(versionedRecords))('%s', (_name, resource) => {
  it('keeps its revision when a write changes nothing, and shows itself to a stale writer', async () => {
    const first = await write(resource, 'first');
    expect([first.status, first.body.details ?? null, first.revision]).toEqual([200, null, expect.any(Number)]);
    expect(first.revision).toBeGreaterThan(0);
    const again = await write(resource, 'first', first.revision);
    expect([again.status, again.revision]).toEqual([200, first.revision]);
    expect(again.body).toEqual(first.body);

    const second = await write(resource, 'second-one', first.revision);
    expect([second.status, second.revision]).toEqual([200, first.revision + 1]);
    const stale = await write(resource, 'third', first.revision);
    expect(stale).toMatchObject({
      status: 409,
      body: {
        code: 'CONFLICT',
        error: expect.any(String),
        message: stale.body.error,
        details: {
          resourceType: expect.any(String),
          resourceId: expect.any(String),
          expectedRevision: first.revision,
          currentRevision: second.revision,
        },
      },
    });
    const { current } = stale.body.details;
    expect({ ...second.body, ...current }).toEqual(second.body);
    expect(Object.keys(current).length).toBeGreaterThan(0);
  });

  it('is changed by one of ten writers of a revision, and loses no write of ten without one', async () => {
    // Names of different lengths: some records have a number of it.
    const names = (beginning: string) => Array.from({ length: 10 }, (_, n) => beginning + 'x'.repeat(n + 1));
    const first = await write(resource, 'begin-with-this');
    expect(first.status).toBe(200);

    const rivals = await Promise.all(names('rival').map((name) => write(resource, name, first.revision)));
    const winners = rivals.filter(({ status, revision }) => status === 200 && revision === first.revision + 1);
    // A writer whose state was there already has nothing to change: that of the winner, or what it was before.
    const states = (of: typeof rivals) => new Set(of.map(({ body }) => JSON.stringify(body)));
    expect(states(winners).size).toBe(1);
    for (const { status, body, revision } of rivals.filter((rival) => !winners.includes(rival))) {
      const isUnchanged = status === 200 && revision === first.revision;
      const { currentRevision } = body.details ?? {};
      expect(isUnchanged ? [200, first.revision + 1] : [status, currentRevision]).toEqual([
        isUnchanged ? 200 : 409,
        first.revision + 1,
      ]);
    }

    const others = await Promise.all(names('other').map((name) => write(resource, name)));
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    const revisions = others.map(({ revision }) => revision);
    const last = Math.max(...revisions);
    // Each revision is of one state: no write was lost in that of another.
    expect(states(others).size).toBe(new Set(revisions).size);
    expect([...new Set(revisions.filter((revision) => revision > first.revision + 1))].sort((a, b) => a - b)).toEqual(
      Array.from({ length: last - first.revision - 1 }, (_, n) => first.revision + 2 + n),
    );
    const stale = await write(resource, 'after-all-of-them', first.revision);
    expect(stale.body.details).toMatchObject({ currentRevision: last });
    const latest = others.find(({ revision }) => revision === last)!.body;
    expect({ ...latest, ...stale.body.details.current }).toEqual(latest);
  });
});

it('shows the current task to a caller with another stale revision', async () => {
  const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'a' } })).body;
  await board.call('POST', `/api/tasks/${id}/archive`);
  const { body: current } = await board.call('GET', `/api/tasks/${id}`);
  const message = expect.stringContaining('archive');
  const details = {
    resourceType: 'task',
    resourceId: id,
    location: 'archive',
    currentRevision: current.revision,
    current,
  };
  for (const refused of [
    await board.call('PATCH', `/api/tasks/${id}`, { body: { title: 'b' } }),
    await board.call('POST', `/api/tasks/${id}/archive`),
    await board.call('POST', `/api/tasks/${id}/comments`, { body: { author: 'me', text: 'x' } }),
  ]) {
    expect(refused).toMatchObject({ status: 409, body: { error: message, message, details } });
  }
  await board.call('POST', `/api/tasks/${id}/restore`);
  const stopped = await board.call('POST', `/api/tasks/${id}/time/stop`);
  expect(stopped.body.details).toMatchObject({ running: null, resourceId: id, current: { id, status: 'done' } });
});

it('is not raised by what changes nothing of a part of a task', async () => {
  const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'a', subtasks: [{ title: 's' }] } })).body;
  const commented = await board.call('POST', `/api/tasks/${id}/comments`, { body: { author: 'me', text: 'x' } });
  const [comment] = commented.body.comments;
  const [subtask] = commented.body.subtasks;
  const changes: [string, object][] = [
    [`/api/tasks/${id}/comments/${comment.id}`, { text: 'x' }],
    [`/api/tasks/${id}/subtasks/${subtask.id}`, { title: 's', completed: false }],
    [`/api/tasks/${id}`, { status: 'todo', project: null }],
    [`/api/tasks/${id}`, {}],
  ];
  for (const [path, body] of changes) {
    const { status, body: task } = await board.call('PATCH', path, { body });
    expect([path, status, task]).toEqual([path, 200, commented.body]);
  }
  const activity = await board.call('GET', `/api/activity?taskId=${id}&type=task_updated`);
  expect(activity.body).toEqual([]);
});
