import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adminKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('context API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const context = (id: string, options = {}) => board.call('GET', `/api/tasks/${id}/context`, options);
  const write = (id: string, fields: string) =>
    writeFile(join(board.dataDir, 'tasks/active', `${id}.md`), `---\nid: ${id}\n${fields}---\n\nWhat to do\n`);

  it('is the task with its observations', async () => {
    const body = {
      title: 'A task',
      description: 'Do it',
      type: 'docs',
      priority: 'high',
      project: 'shop',
      sprint: 's1',
    };
    const { id, createdAt } = (await board.call('POST', '/api/tasks', { body })).body;
    const noted = await board.call('POST', `/api/tasks/${id}/observations`, {
      body: { content: 'a', type: 'insight' },
    });
    expect((await context(id, { key: readKey })).body).toEqual({
      taskId: id,
      ...body,
      status: 'todo',
      attachments: { count: 0, documents: [], images: [] },
      created: createdAt,
      updated: noted.body.updatedAt,
      dependencies: { depends_on: [], blocks: [] },
      observations: noted.body.observations,
    });
  });

  it('names the tasks around it that can be read', async () => {
    await write('TASK-1', 'title: Middle\ndependencies: {depends_on: [TASK-2, TASK-9, TASK-4], blocks: [TASK-3]}\n');
    await write('TASK-2', 'title: First\nstatus: done\n');
    await write('TASK-3', 'title: Last\n');
    await write('TASK-4', 'title: Broken\nstatus: {}\n');
    expect((await context('TASK-1')).body.dependencies).toEqual({
      depends_on: [{ id: 'TASK-2', title: 'First', status: 'done' }],
      blocks: [{ id: 'TASK-3', title: 'Last', status: 'todo' }],
    });
  });

  it('knows who waits for a task though only they record it', async () => {
    const [first, second] = [
      (await board.call('POST', '/api/tasks', { body: { title: 'first' } })).body,
      (await board.call('POST', '/api/tasks', { body: { title: 'second' } })).body,
    ];
    await board.call('POST', `/api/tasks/${second.id}/dependencies`, { body: { depends_on: first.id } });
    expect((await context(first.id)).body.dependencies).toEqual({
      depends_on: [],
      blocks: [{ id: second.id, title: 'second', status: 'todo' }],
    });
  });

  it('holds the text of documents', async () => {
    const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'documented' } })).body;
    const form = new FormData();
    form.append('files', new Blob(['# Plan\nStep one']), 'plan.md');
    const headers = { 'X-API-Key': adminKey };
    await fetch(`${board.url}/api/tasks/${id}/attachments`, { method: 'POST', headers, body: form });
    expect((await context(id)).body.attachments).toEqual({
      count: 1,
      documents: [{ filename: 'plan.md', text: '# Plan\nStep one' }],
      images: [],
    });
  });

  it('counts the attachments and reports where images are', async () => {
    await write(
      'TASK-5',
      `attachments:
  - {id: att_1, filename: att_1.pdf, originalName: Plan.pdf, mimeType: application/pdf, size: 3, hasText: true}
  - {id: att_2, filename: att_2.png, originalName: Look.png, mimeType: image/png, size: 3, hasText: false}
`,
    );
    expect((await context('TASK-5')).body.attachments).toEqual({
      count: 2,
      documents: [{ filename: 'Plan.pdf' }],
      images: ['/api/tasks/TASK-5/attachments/att_2/download'],
    });
  });

  it('needs a task and a key', async () => {
    expect(await context('task_20260101_nobody')).toMatchObject({ status: 404 });
    expect(await context('TASK-1', { key: null })).toMatchObject({ status: 401 });
  });
});
