import type { TrackerPayload } from '../../../contracts/integrations/trackers/profile';
import { trackerProvider } from '../../../contracts/integrations/trackers/tracker';
import type { ForgeError } from '../../../providers/forges/forge-error';
import { openTracker } from '../../../providers/trackers/open-tracker';
import type { NewTrackerItem, Tracker, TrackerProjectSchema } from '../../../providers/trackers/tracker';
import type { ForgeServer } from '../../support/forges/forge-server';
import {
  commentOf,
  creationOf,
  startTrackerServers,
  type TrackerServers,
  trackerTokens,
} from '../../support/trackers/tracker-servers';

let servers: TrackerServers;
beforeAll(async () => {
  servers = await startTrackerServers();
  const names = Array.from({ length: 205 }, (_one, index) => `label ${index}`);
  servers.github.state.labels = names;
  servers.github.state.assignees = ['ada', 'bo'];
  servers.github.state.milestones = [{ number: 4, title: 'Spring' }];
  servers.github.state.issueTypes = ['Bug'];
  servers.gitlab.state.labels = names;
  servers.gitlab.state.members = [{ id: 7, username: 'ada' }];
  servers.gitlab.state.milestones = [{ id: 40, title: 'Spring' }];
  servers.jira.state.labels = names;
  servers.jira.state.people = Array.from({ length: 130 }, (_one, index) => ({
    accountId: `id-${index}`,
    displayName: `Person ${index}`,
  }));
});
afterAll(() => servers.close());

const titleField = { github: 'title', gitlab: 'title', jira: 'summary' };
const textField = { github: 'body', gitlab: 'description', jira: 'description' };
const typeOf = { github: 'Issue', gitlab: 'issue', jira: 'Task' };
const nonce = 'a'.repeat(32);
const marker = { taskId: 'task_20260101_ab12cd', nonce };
const yesterday = new Date(Date.now() - 86_400_000).toISOString();

describe.each(trackerProvider.options)('the tracker %s', (provider) => {
  let tracker: Tracker;
  let server: ForgeServer;
  let schema: TrackerProjectSchema;

  const item = (title: string, changed: Partial<TrackerPayload> = {}): NewTrackerItem => ({
    payload: {
      workItemType: typeOf[provider],
      projectPath: servers.settings(provider).project,
      areaPath: null,
      iterationPath: null,
      fields: { [titleField[provider]]: title, [textField[provider]]: 'Twice.\n\nIt rings.' },
      ...changed,
    },
    schema,
    marker: { ...marker, nonce: Buffer.from(title.padEnd(16).slice(0, 16)).toString('hex') },
  });

  beforeAll(async () => {
    tracker = openTracker(servers.settings(provider));
    server = servers.server(provider);
    schema = await tracker.introspect();
  });

  it('is introspected with every page of its lists', () => {
    expect(schema.workItemTypes.map(({ name }) => name)).toContain(typeOf[provider]);
    expect(schema.tags).toHaveLength(205);
    expect(schema.truncated).toEqual([]);
    expect(schema.planningPaths).toContainEqual(expect.objectContaining({ kind: 'project' }));
    const title = schema.fields.find(({ id }) => id === titleField[provider]);
    expect(title?.requiredBy).toContain(typeOf[provider]);
    expect(schema.assignees).toHaveLength({ github: 2, gitlab: 1, jira: 130 }[provider]);
  });

  it('creates an item that is found by its marker, and by no other', async () => {
    const created = item('Fix the till');
    const made = await tracker.createItem(created);
    expect(await tracker.findCreated(created.marker, yesterday)).toMatchObject({ id: made.id, url: made.url });
    expect(await tracker.findCreated({ ...created.marker, nonce: 'f'.repeat(32) }, yesterday)).toBeUndefined();
    expect(await tracker.getItem(made.id)).toMatchObject({ title: 'Fix the till', state: 'open' });
    expect((await tracker.getItem(made.id)).body).toContain('It rings.');
  });

  it('has created an item whose response was lost', async () => {
    server.fail({ on: creationOf[provider], answer: 'lost' });
    const created = item('Lost');
    await expect(tracker.createItem(created)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await tracker.findCreated(created.marker, yesterday)).toMatchObject({ title: 'Lost' });
  });

  it('has comments on every page, with the nonce of those that were sent', async () => {
    const id = servers.open(provider, 'Discussed');
    for (let at = 1; at <= 120; at += 1) {
      servers.comment(provider, id, `Said ${at}`);
    }
    const sent = await tracker.addComment(id, { author: 'ada', text: 'Done.', nonce });
    const comments = await tracker.commentsOf(id);
    expect(comments).toHaveLength(121);
    expect(comments.filter((one) => one.nonce !== undefined)).toMatchObject([{ id: sent.id, nonce }]);
    expect(comments[0]).toMatchObject({ body: 'Said 1' });
    expect(comments.at(-1)?.body).toContain('Done.');
  });

  it('has sent a comment whose response was lost', async () => {
    const id = servers.open(provider, 'Lost comment');
    server.fail({ on: commentOf[provider], answer: 'lost' });
    await expect(tracker.addComment(id, { author: 'ada', text: 'Hello', nonce })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await tracker.commentsOf(id)).toMatchObject([{ nonce }]);
  });

  it.each([
    ['too many requests', { status: 429, headers: { 'retry-after': '7' }, body: {} }, 'rate-limited'],
    ['an error of the server', { status: 502, body: {} }, 'unavailable'],
    ['a page that is no JSON', { status: 200, body: '<html>' }, 'unavailable'],
    ['a redirect', { status: 302, headers: { location: 'https://evil.example/' } }, 'moved'],
    ['a refusal', { status: 403, body: {} }, 'forbidden'],
    ['nothing', 'cut' as const, 'unavailable'],
  ])('reports %s once', async (_case, answer, code) => {
    const id = servers.open(provider, 'Read');
    const before = server.requests.length;
    server.fail({ on: /./, answer });
    const error = await tracker.getItem(id).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ForgeError', code });
    expect(server.requests.length).toBe(before + 1);
    if (code === 'rate-limited') {
      expect((error as ForgeError).retryAfterMs).toBe(7_000);
    }
  });

  it('reports an item that is not there, and never asks for the id of another tracker', async () => {
    const missing = provider === 'jira' ? 'SHOP-999' : '999';
    await expect(tracker.getItem(missing)).rejects.toMatchObject({ code: 'not-found' });
    const before = server.requests.length;
    for (const id of ['../../myself', 'OTHER-1', '1?x', 'SHOP-1/comment']) {
      await expect(tracker.getItem(id)).rejects.toMatchObject({ code: 'not-found' });
    }
    expect(server.requests.length).toBe(before);
  });

  it('is not reached at a private address unless that is allowed', async () => {
    const before = server.requests.length;
    const outside = openTracker(servers.settings(provider, { allowPrivate: false }));
    await expect(outside.introspect()).rejects.toMatchObject({ code: 'refused-address' });
    expect(server.requests.length).toBe(before);
  });

  it('reports a refused token, and has no token in an error', async () => {
    const wrong = openTracker(servers.settings(provider, { token: 'wrong' }));
    await expect(wrong.introspect()).rejects.toMatchObject({ code: 'unauthorized' });
    server.fail({ on: /./, answer: { status: 500, body: { message: 'oops' } } });
    const error = (await tracker.introspect().catch((thrown: unknown) => thrown)) as Error;
    expect(`${error.message} ${error.stack ?? ''}`).not.toContain(trackerTokens[provider]);
  });
});

describe('where work is planned', () => {
  const planned = (provider: 'github' | 'gitlab' | 'jira', payload: Partial<TrackerPayload>) => async () => {
    const tracker = openTracker(servers.settings(provider));
    const schema = await tracker.introspect();
    const full = { projectPath: servers.settings(provider).project, areaPath: null, iterationPath: null };
    return tracker.createItem({ payload: { ...full, workItemType: '', fields: {}, ...payload }, schema, marker });
  };

  it('is sent to GitHub as milestone, type and assignees', async () => {
    const fields = { title: 'Planned', labels: ['a', 'b'], assignees: ['ada'] };
    await planned('github', { workItemType: 'Bug', iterationPath: 'Spring', fields })();
    expect(servers.github.state.issues.at(-1)).toMatchObject({
      ...{ title: 'Planned', milestone: 4, type: { name: 'Bug' }, assignees: ['ada'] },
      labels: [{ name: 'a' }, { name: 'b' }],
    });
  });

  it('is not offered by GitHub to an account that may not push, whose plans it drops', async () => {
    servers.github.state.mayPush = false;
    const schema = await openTracker(servers.settings('github')).introspect();
    servers.github.state.mayPush = true;
    expect(schema.fields.map(({ id }) => id)).toEqual(['title', 'body']);
    expect(schema.planningPaths.map(({ kind }) => kind)).toEqual(['project']);
  });

  it('is sent to GitLab as milestone, type and assignees', async () => {
    const fields = { title: 'Planned', labels: ['a', 'b'], assignee_ids: ['7'], weight: 3, due_date: '2026-02-01' };
    await planned('gitlab', { workItemType: 'incident', iterationPath: 'Spring', fields })();
    expect(servers.gitlab.state.issues.at(-1)).toMatchObject({
      ...{ title: 'Planned', milestone_id: 40, issue_type: 'incident', assignee_ids: [7], weight: 3 },
      ...{ labels: ['a', 'b'], due_date: '2026-02-01' },
    });
  });

  it('is sent to Jira as component, version and ids of what it lists', async () => {
    const fields = {
      ...{ summary: 'Planned', priority: 'High', labels: ['a'], assignee: 'id-3' },
      customfield_10010: 'Back office',
    };
    await planned('jira', { workItemType: 'Bug', areaPath: 'Till', iterationPath: '2.0', fields })();
    expect(servers.jira.state.issues.at(-1)?.fields).toMatchObject({
      project: { key: 'SHOP' },
      issuetype: { id: '10001' },
      components: [{ id: '20001' }],
      fixVersions: [{ id: '30002' }],
      priority: { id: '2' },
      labels: ['a'],
      assignee: { accountId: 'id-3' },
      customfield_10010: { id: '2' },
    });
  });

  it('is found at Jira after a moment, which is stated', async () => {
    const tracker = openTracker(servers.settings('jira'));
    const late = { taskId: 'task_20260101_late', nonce: 'b'.repeat(32) };
    const payload = { ...{ workItemType: 'Task', projectPath: 'SHOP' }, areaPath: null, iterationPath: null };
    const schema = await tracker.introspect();
    await tracker.createItem({ payload: { ...payload, fields: { summary: 'Late' } }, schema, marker: late });
    servers.jira.state.unindexed = 1;
    expect(await tracker.findCreated(late, yesterday)).toBeUndefined();
    servers.jira.state.unindexed = 0;
    expect(await tracker.findCreated(late, yesterday)).toMatchObject({ id: expect.stringMatching(/^SHOP-/) });
    expect(tracker.searchDelayMs).toBeGreaterThan(0);
  });

  it('has the reasons of Jira in a refusal', async () => {
    await expect(planned('jira', { workItemType: 'Bug', fields: { summary: 'No place' } })()).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('customfield_10010: Found in is required.'),
    });
  });

  it('has the fields of each type of Jira, and what one of them requires', async () => {
    const { fields, workItemTypes, planningPaths, priorities, states } = await openTracker(
      servers.settings('jira'),
    ).introspect();
    expect(workItemTypes.map(({ name }) => name)).toEqual(['Bug', 'Task']);
    expect(fields.find(({ id }) => id === 'customfield_10010')).toMatchObject({
      kind: 'option',
      workItemTypes: ['Bug'],
      requiredBy: ['Bug'],
      allowedValues: [
        { id: '1', name: 'Till' },
        { id: '2', name: 'Back office' },
      ],
    });
    expect(fields.map(({ id }) => id)).not.toContain('project');
    expect(planningPaths.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'project SHOP',
      'area Till',
      'iteration 2.0',
    ]);
    expect([priorities, states]).toEqual([
      ['Highest', 'High', 'Medium', 'Low'],
      ['To Do', 'Done'],
    ]);
  });
});
