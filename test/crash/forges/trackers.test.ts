import type { TrackerProvider } from '../../../contracts/integrations/trackers/tracker';
import { eventually } from '../../../platform/testing/eventually';
import { jiraAccount } from '../../support/forges/jira-server';
import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';
import { startTrackerServers, type TrackerServers, trackerTokens } from '../../support/trackers/tracker-servers';

const root = '/api/integrations/trackers';
const creation = /^POST .*\/(?:issues|rest\/api\/[23]\/issue)$/;
const commenting = /^POST .*\/(?:comments|notes|comment)$/;

interface Tracker {
  connection: object;
  project: string;
  open(title: string): string;
  comment(id: string, text: string): void;
  titles(): string[];
  comments(id: string): string[];
}

let service: Service;
let servers: TrackerServers;
/** What kills the worker when it is requested next: before it is done at the tracker, or right after. */
let next: { on: RegExp; isDone: boolean } | undefined;
let kills = 0;

describe('kill -9 of the worker between a tracker and the record of what it did there', () => {
  beforeAll(async () => {
    servers = await startTrackerServers(({ method = '', url = '', socket }) => {
      if (next?.on.test(`${method} ${url}`) !== true) {
        return false;
      }
      const { isDone } = next;
      next = undefined;
      killPart(service, 'worker');
      kills += 1;
      if (!isDone) {
        socket.destroy();
      }
      return !isDone;
    });
    service = await startService(
      {
        BOARD_FORGE_ALLOW_PRIVATE: 'true',
        BOARD_RETRY_BACKOFF_MS: '100',
        GITHUB_KILLED: trackerTokens.github,
        GITLAB_KILLED: trackerTokens.gitlab,
        JIRA_KILLED: trackerTokens.jira,
        JIRA_DATA_CENTER_KILLED: trackerTokens.dataCenter,
      },
      { restart: soonAgain },
    );
  });
  afterAll(() => Promise.all([service.close(), servers.close()]));

  /** What is at a tracker, as tests of all of them read and write it. */
  const trackerAt = (provider: TrackerProvider): Tracker => ({
    connection: {
      ...{ provider, baseUrl: servers.settings(provider).baseUrl, credential: `env:${provider.toUpperCase()}_KILLED` },
      ...(provider === 'jira' ? { account: jiraAccount } : {}),
    },
    project: servers.settings(provider).project,
    open: (title) => servers.open(provider, title),
    comment: (id, text) => servers.comment(provider, id, text),
    titles: () => servers.titles(provider),
    comments: (id) => servers.comments(provider, id),
  });
  const dataCenter = (): Tracker => {
    const { dataCenter: site } = servers;
    const { baseUrl, state } = site;
    return {
      connection: {
        ...{ provider: 'jira', deployment: 'data-center', baseUrl, credential: 'env:JIRA_DATA_CENTER_KILLED' },
      },
      project: 'SHOP',
      open: (title) => site.openIssue({ summary: title }),
      comment: (key, text) => site.comment(key, text),
      titles: () => state.issues.map(({ fields }) => String(fields.summary)),
      comments: (id) => (state.comments.get(id) ?? []).map(({ body }) => body),
    };
  };

  const fieldsOf = (provider: TrackerProvider, project: string) => ({
    name: 'Killed',
    provider,
    defaultWorkItemType: { github: 'Issue', gitlab: 'issue', jira: 'Task' }[provider],
    defaultProjectPath: project,
    fieldMappings: [
      { trackerFieldId: provider === 'jira' ? 'summary' : 'title', source: 'title', required: true },
      { trackerFieldId: provider === 'github' ? 'body' : 'description', source: 'description' },
    ],
  });

  /** Repeats a request until it is answered: meanwhile the worker is started again. */
  const insist = (path: string, body: object) =>
    eventually(
      async () => {
        const answer = await service.call.post(path, body);
        expect([200, 201, 409]).toContain(answer.status);
        return answer.body;
      },
      { withinMs: 120_000 },
    );

  describe.each<[string, TrackerProvider, () => Tracker]>([
    ['github', 'github', () => trackerAt('github')],
    ['gitlab', 'gitlab', () => trackerAt('gitlab')],
    ['jira', 'jira', () => trackerAt('jira')],
    ['jira-data-center', 'jira', dataCenter],
  ])('%s', (name, provider, trackerOf) => {
    const profile = `${root}/profiles/${name}-work`;
    let tracker: Tracker;
    let fields: ReturnType<typeof fieldsOf>;

    beforeAll(async () => {
      tracker = trackerOf();
      const { project, connection } = tracker;
      fields = fieldsOf(provider, project);
      await service.call.ok('PUT', `${root}/connection`, connection);
      await service.call.ok('POST', `${root}/introspect`, { provider, project });
      await service.call.ok('PUT', profile, fields);
    });

    it('has every profile whose change was acknowledged before the API was killed', async () => {
      const ids = Array.from({ length: 10 }, (_, n) => `${name}-${n}`);
      const acknowledged = new Map<string, unknown>();
      await Promise.all(
        ids.map(async (id) => {
          const answer = await service.call
            .send('PUT', `${root}/profiles/${id}`, { ...fields, name: `Profile ${id}` })
            .catch(() => undefined);
          if (answer && answer.status < 300) {
            acknowledged.set(id, answer.body);
            if (acknowledged.size === 3) {
              killPart(service, 'api');
            }
          }
        }),
      );
      const { profiles } = await persistently(() => service.call.ok('GET', `${root}/profiles`));
      const stored = new Map((profiles as { id: string }[]).map((one) => [one.id, one]));
      expect(acknowledged.size).toBeGreaterThanOrEqual(3);
      for (const [id, body] of acknowledged) {
        expect([id, stored.get(id)]).toEqual([id, body]);
      }
      for (const [id, one] of stored) {
        expect([id, one]).toEqual([id, expect.objectContaining({ id, fieldMappings: expect.any(Array) })]);
      }
    });

    it.each([
      [true, 'after'],
      [false, 'before'],
    ])('has one work item, which the task names (created: %s)', async (isDone, when) => {
      const title = `Killed ${when} it was created`;
      const { id: taskId } = await service.call.createTask({ title });
      next = { on: creation, isDone };
      await insist(`${profile}/create`, { taskId, approvedBy: 'ada' });
      expect(next).toBeUndefined();
      const { externalWorkItems: items } = await service.call.ok('GET', `/api/tasks/${taskId}`);
      expect(items).toMatchObject([{ provider, origin: 'created' }]);
      expect(tracker.titles().filter((one) => one === title)).toHaveLength(1);
      expect(await service.call.post(`${profile}/create`, { taskId, approvedBy: 'bo' })).toMatchObject({
        ...{ status: 409, body: { code: 'WORK_ITEM_EXISTS', details: { workItem: { id: items[0].id } } } },
      });
    });

    it.each([
      [true, 'after'],
      [false, 'before'],
    ])('has each comment once (created: %s)', async (isDone, when) => {
      const { id: taskId } = await service.call.createTask({ title: `Discussed ${when}` });
      const { workItem } = await insist(`${profile}/create`, { taskId, approvedBy: 'ada' });
      tracker.comment(workItem.id, 'Theirs');
      await service.call.ok('POST', `/api/tasks/${taskId}/comments`, { text: 'Ours 1' });
      await service.call.ok('POST', `/api/tasks/${taskId}/comments`, { text: 'Ours 2' });
      next = { on: commenting, isDone };
      const asked = { taskId, workItemId: workItem.id };
      await eventually(
        async () => {
          await insist(`${profile}/sync-comments`, asked);
          const there = tracker.comments(workItem.id).map((body) => /Ours \d|Theirs/.exec(body)?.[0]);
          expect(there.sort()).toEqual(['Ours 1', 'Ours 2', 'Theirs']);
        },
        { withinMs: 120_000 },
      );
      expect(next).toBeUndefined();
      expect(await insist(`${profile}/sync-comments`, asked)).toMatchObject({ imported: 0, sent: 0 });
      const here = (await service.call.ok('GET', `/api/tasks/${taskId}/comments`)).map(
        ({ text }: { text: string }) => text,
      );
      expect(here.sort()).toEqual(['Ours 1', 'Ours 2', 'Theirs']);
    });

    it('has one task of a work item whose import is killed', async () => {
      const workItemId = tracker.open('Brought in');
      next = { on: /^GET .*issues?(?:\/|\?)/, isDone: true };
      const { taskId } = await insist(`${profile}/import`, { workItemId });
      expect(await service.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({
        ...{ title: 'Brought in', externalWorkItems: [{ id: workItemId, origin: 'imported' }] },
      });
      const { tasks } = await service.call.ok('GET', '/api/tasks');
      const same = tasks.filter(
        ({ externalWorkItems: items = [] }: { externalWorkItems?: { profileId: string; id: string }[] }) =>
          items.some((one) => one.profileId === `${name}-work` && one.id === workItemId),
      );
      expect(same).toHaveLength(1);
    });
  });

  it('has killed the worker each time', () => {
    expect(kills).toBe(20);
  });
});
