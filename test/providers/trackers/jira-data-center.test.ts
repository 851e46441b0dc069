import fc from 'fast-check';
import { textOfWiki, wikiTextOf } from '../../../providers/trackers/jira/wiki-text';
import { openTracker } from '../../../providers/trackers/open-tracker';
import type {
  NewTrackerItem,
  Tracker,
  TrackerProjectSchema,
  TrackerSettings,
} from '../../../providers/trackers/tracker';
import {
  type JiraDataCenterServer,
  personalToken,
  startJiraDataCenterServer,
} from '../../support/forges/jira-data-center-server';

let server: JiraDataCenterServer;
let tracker: Tracker;
let schema: TrackerProjectSchema;

const settings = (changed: Partial<TrackerSettings> = {}): TrackerSettings => ({
  ...{ provider: 'jira', deployment: 'data-center', baseUrl: server.baseUrl, project: 'SHOP' },
  ...{ token: personalToken, account: '', allowPrivate: true },
  ...changed,
});

beforeAll(async () => {
  server = await startJiraDataCenterServer();
  const people = Array.from({ length: 130 }, (_one, index) => ({
    ...{ name: `person-${index}`, key: `JIRAUSER${index}`, displayName: `Person ${index}` },
  }));
  server.state.people.push(...people);
  tracker = openTracker(settings());
  schema = await tracker.introspect();
});
afterAll(() => server.close());

const yesterday = new Date(Date.now() - 86_400_000).toISOString();

const item = (title: string, fields: Record<string, string | string[]> = {}): NewTrackerItem => ({
  payload: {
    ...{ workItemType: 'Task', projectPath: 'SHOP', areaPath: 'Till', iterationPath: '2.0' },
    fields: { summary: title, ...fields },
  },
  schema,
  marker: { taskId: 'task_20260101_ab12cd', nonce: Buffer.from(title.padEnd(16).slice(0, 16)).toString('hex') },
});

describe('Jira Data Center', () => {
  it('is introspected below its context path, with a personal access token', () => {
    expect(schema).toMatchObject({
      login: 'Runboard',
      workItemTypes: [{ name: 'Bug' }, { name: 'Task' }],
      priorities: ['Highest', 'High', 'Low'],
      states: ['To Do', 'Done'],
      tags: [],
    });
    expect(schema.assignees).toHaveLength(132);
    expect(schema.assignees[0]).toEqual({ id: 'runboard', name: 'Runboard' });
    expect(server.requests.every(({ path }) => path.startsWith('/jira/rest/api/2/'))).toBe(true);
  });

  it('creates an issue with texts and names of accounts, which is found by its marker', async () => {
    const created = item('Fix the till', { description: 'Twice.\n\n*It* rings.', priority: 'High', assignee: 'mona' });
    const made = await tracker.createItem(created);
    expect(made.url).toBe(`${server.baseUrl}/browse/${made.id}`);
    expect(server.state.issues.at(-1)?.fields).toMatchObject({
      ...{ summary: 'Fix the till', description: 'Twice.\n\n\\*It\\* rings.', assignee: { name: 'mona' } },
      ...{ components: [{ id: '20001' }], fixVersions: [{ id: '30002' }], priority: { id: '2' } },
    });
    server.openIssue({ summary: 'Of a person' });
    expect(await tracker.findCreated(created.marker, yesterday)).toMatchObject({ id: made.id });
    expect(await tracker.findCreated({ ...created.marker, nonce: 'f'.repeat(32) }, yesterday)).toBeUndefined();
    expect(await tracker.getItem(made.id)).toMatchObject({ body: 'Twice.\n\n*It* rings.', priority: 'High' });
  });

  it('finds an issue whose response was lost on a later page', async () => {
    server.fail({ on: /^POST .*\/issue$/, answer: 'lost' });
    const lost = item('Lost');
    await expect(tracker.createItem(lost)).rejects.toMatchObject({ code: 'unavailable' });
    for (let at = 0; at < 120; at += 1) {
      await tracker.createItem(item(`Later ${at}`));
    }
    const before = server.count(/^POST .*\/search$/);
    expect(await tracker.findCreated(lost.marker, yesterday)).toMatchObject({ title: 'Lost' });
    expect(server.count(/^POST .*\/search$/) - before).toBe(2);
  });

  it.each([true, false])(
    'has the nonce of a comment that was sent, properties listed with comments: %s',
    async (lists) => {
      server.state.listsProperties = lists;
      const id = server.openIssue();
      for (let at = 1; at <= 120; at += 1) {
        server.comment(id, `Comment ${at}`);
      }
      const sent = await tracker.addComment(id, { author: 'ada', text: 'Done, [~mona].', nonce: 'a'.repeat(32) });
      const comments = await tracker.commentsOf(id);
      expect(comments).toHaveLength(121);
      expect(comments.filter(({ nonce }) => nonce !== undefined)).toMatchObject([
        { id: sent.id, nonce: 'a'.repeat(32), body: 'ada wrote:\n\nDone, [~mona].' },
      ]);
      expect(server.state.comments.get(id)?.at(-1)?.body).toContain('\\[\\~mona\\]');
    },
  );

  it.each([
    ['too many requests', { status: 429, headers: { 'retry-after': '7' }, body: {} }, 'rate-limited'],
    ['an error of the server', { status: 502, body: {} }, 'unavailable'],
    ['a redirect to a login', { status: 302, headers: { location: '/login.jsp' } }, 'moved'],
    ['no response', 'cut' as const, 'unavailable'],
  ])('reports %s once', async (_case, answer, code) => {
    const id = server.openIssue();
    const before = server.requests.length;
    server.fail({ on: /./, answer });
    await expect(tracker.getItem(id)).rejects.toMatchObject({ name: 'ForgeError', code });
    expect(server.requests.length).toBe(before + 1);
  });

  it('reports a refused token, without it', async () => {
    const error = await openTracker(settings({ token: 'wrong-token' }))
      .introspect()
      .then(
        () => undefined,
        (thrown: unknown) => thrown as Error,
      );
    expect(error).toMatchObject({ code: 'unauthorized' });
    expect(`${error?.message} ${error?.stack}`).not.toContain('wrong-token');
  });
});

describe('texts for the wiki renderer', () => {
  it('are read back as they were sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!/[\r\u2060]/.test(text));
        expect(textOfWiki(wikiTextOf(text))).toBe(text);
      }),
    );
  });

  it('have no markup, no macro and no mention', () => {
    expect(wikiTextOf('h1. A\nbq. B\n{code}x{code} [~mona] *b* ----')).toBe(
      'h1\u2060. A\nbq\u2060. B\n\\{code\\}x\\{code\\} \\[\\~mona\\] \\*b\\* \\-\\-\\-\\-',
    );
  });
});
