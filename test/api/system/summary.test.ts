import fc from 'fast-check';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let api: ApiUnderTest;
beforeEach(async () => {
  api = await startTestApi();
});
afterEach(() => api.close());

const get = (path: string) => api.call('GET', `/api/summary${path}`, { key: readKey });
const create = async (fields: object) =>
  (await api.call('POST', '/api/tasks', { body: { title: 'T', ...fields } })).body;
const titles = (tasks: { title: string }[]) => tasks.map(({ title }) => title);
const today = () => new Date().toISOString().slice(0, 10);

describe('summary of the board', () => {
  it('counts tasks by status and project, and lists what is important', async () => {
    await create({ title: 'A', project: 'p', status: 'in-progress', priority: 'high' });
    await create({ title: 'B', project: 'p', status: 'done', priority: 'critical' });
    await create({ title: 'C', project: '__proto__', priority: 'critical' });
    await create({ title: 'D', status: 'blocked' });
    const { body } = await get('');
    expect(body).toMatchObject({
      total: 4,
      byStatus: { todo: 1, 'in-progress': 1, blocked: 1, done: 1 },
      otherProjects: 0,
    });
    expect(Object.entries(body.byProject).sort()).toEqual([
      ['(No Project)', { total: 1, done: 0, inProgress: 0 }],
      ['__proto__', { total: 1, done: 0, inProgress: 0 }],
      ['p', { total: 2, done: 1, inProgress: 1 }],
    ]);
    expect(titles(body.highPriority)).toEqual(['C', 'A']);
  });

  it('is the same as the metrics, for any board', async () => {
    const aTask = fc.record({
      status: fc.constantFrom('todo', 'in-progress', 'blocked', 'done'),
      priority: fc.constantFrom('low', 'medium', 'high', 'critical'),
      project: fc.constantFrom('x', 'y'),
    });
    const [tasks] = fc.sample(fc.array(aTask, { minLength: 15, maxLength: 25 }), 1);
    for (const task of tasks!) {
      await create(task);
    }
    const summary = (await get('')).body;
    const metrics = (await api.call('GET', '/api/metrics/tasks')).body;
    const recent = (await get('/recent')).body;
    const daily = (await api.call('GET', '/api/digest/daily')).body;
    expect(summary.byStatus).toEqual(metrics.byStatus);
    expect([summary.total, daily.tasks.total]).toEqual([metrics.total, metrics.total]);
    expect([recent.completed.length, daily.tasks.completed]).toEqual([metrics.completed, metrics.completed]);
    expect(daily.tasks.blocked).toBe(summary.byStatus.blocked);
    for (const project of ['x', 'y']) {
      const own = (await api.call('GET', `/api/metrics/tasks?project=${project}`)).body;
      const { total = 0, done = 0, inProgress = 0 } = summary.byProject[project] ?? {};
      expect([total, done, inProgress]).toEqual([own.total, own.byStatus.done, own.byStatus['in-progress']]);
    }
  });
});

describe('summary of the last hours', () => {
  it('has what was completed in them', async () => {
    await create({ title: 'Done', status: 'done' });
    await create({ title: 'Open', priority: 'high' });
    const { body } = await get('/recent?hours=2');
    expect([titles(body.completed), titles(body.highPriorityActive), body.period.hours]).toEqual([
      ['Done'],
      ['Open'],
      2,
    ]);
    expect((await get('/recent?hours=0')).status).toBe(400);
    expect((await get('/recent?days=1')).status).toBe(400);
  });

  it('is markdown in which titles are text', async () => {
    await create({ title: '# Heading [link](http://evil.example) a | b', status: 'in-progress', project: '*p*' });
    const reply = await get('/memory');
    expect(reply.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(reply.body).toContain('# The last 24 hours\n\n## Completed\n\nNothing.\n\n## In progress\n\n');
    expect(reply.body).toContain('- \\# Heading \\[link\\](http\\://evil.example) a \\| b (');
    expect(reply.body).toContain(', \\*p\\*)\n');
  });
});

describe('stand-up', () => {
  it('has the day, with what was completed, commented and tracked', async () => {
    const task = await create({ title: 'Worked on', status: 'in-progress' });
    await create({ title: 'Waits', status: 'blocked' });
    await create({ title: 'Next', priority: 'high' });
    await create({ title: 'Later', priority: 'low' });
    await create({ title: 'Done', status: 'done' });
    await api.call('POST', `/api/tasks/${task.id}/comments`, { body: { text: 'Half done.' } });
    await api.call('POST', '/api/telemetry/events', {
      body: { type: 'run.started', taskId: task.id, agent: 'ant' },
      key: agentKey,
    });
    const { body } = await get(`/standup?date=${today()}`);
    expect(body).toMatchObject({ date: today(), stats: { tasksCompleted: 1, agentsActive: 1, commentsAdded: 1 } });
    expect([body.completed, body.inProgress, body.blocked, body.upcoming].map(titles)).toEqual([
      ['Done'],
      ['Worked on'],
      ['Waits'],
      ['Next', 'Later'],
    ]);
    expect(body.activity.map(({ type }: { type: string }) => type)).toContain('comment_added');
    const past = (await get('/standup?date=2020-01-01')).body;
    expect(past).toMatchObject({ completed: [], activity: [], stats: { tasksCompleted: 0, commentsAdded: 0 } });
  });

  it('is markdown or plain text on request', async () => {
    await create({ title: '**Bold** task', status: 'done' });
    const markdown = await get('/standup?format=markdown');
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(markdown.body).toContain(`# Stand-up of ${today()}`);
    expect(markdown.body).toContain('- \\*\\*Bold\\*\\* task (');
    const text = await get('/standup?format=text');
    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text.body).toContain('- **Bold** task (');
  });

  it.each(['date=2026-02-30', 'tz=Nowhere/There', 'format=html', 'date=yesterday'])('refuses %s', async (query) => {
    expect(await get(`/standup?${query}`)).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });
});
