import { eventually } from '../../../platform/testing/eventually';
import { issueSyncMessage } from '../../../workflows/message-proofs';
import { type GithubServer, githubToken } from '../../support/forges/github-server';
import { aRepository } from '../../support/git/repository';
import { someProofs } from '../../support/stack/proofs';
import type { Stack } from '../../support/stack/stack';
import { startWithForge } from './synchronised-repository';

let stack: Stack;
let github: GithubServer;

beforeAll(async () => {
  ({ stack, github } = await startWithForge('GITHUB_ISSUES_TOKEN'));
});
afterAll(() => Promise.all([stack.close(), github.close()]));

const configPath = '/api/github/sync/config';
const configure = (fields: object = {}) =>
  stack.call.ok('PUT', configPath, { enabled: true, repo: 'shop', pollIntervalMs: 3_600_000, ...fields });
const sync = () => stack.call.ok('POST', '/api/github/sync');
/** Rounds until one has changed a pair: the worker's list of tasks may be behind a change that was just made. */
const updated = () => eventually(async () => expect(await sync()).toMatchObject({ updated: 1, errors: 0 }));
const status = () => stack.call.ok('GET', '/api/github/sync/status');
const tasks = async () => (await stack.call.ok('GET', '/api/tasks')).tasks as any[]; // eslint-disable-line @typescript-eslint/no-explicit-any
const mappings = async () => (await stack.call.ok('GET', '/api/github/sync/mappings?limit=500')).mappings as any[]; // eslint-disable-line @typescript-eslint/no-explicit-any
/** The current file, which a list in memory may be behind. */
const taskOf = async (issueNumber: number) => {
  const found = (await mappings()).find((one) => one.issueNumber === issueNumber);
  const { status, body } = await stack.call.get(`/api/tasks/${found?.taskId ?? 'task_none'}`);
  return status === 200 ? body : undefined;
};
const issue = (number: number) => github.state.issues.find((one) => one.number === number);
const mappingOf = async (taskId: string) => (await mappings()).find((one) => one.taskId === taskId);
const patch = (taskId: string, fields: object) => stack.call.ok('PATCH', `/api/tasks/${taskId}`, fields);

describe('the configuration of the issue synchronisation', () => {
  it('is off until it is configured, and then reports how', async () => {
    expect(await stack.call.ok('GET', configPath)).toEqual({
      enabled: false,
      repo: null,
      repository: null,
      syncMode: 'inbound',
      labelFilter: null,
      pollIntervalMs: 300_000,
      pullRequests: true,
      comments: false,
      commentsSince: null,
      webhookPath: null,
      revision: 0,
    });
    expect(await status()).toMatchObject({ state: 'disabled', repo: null });
    expect(await stack.call.post('/api/github/sync')).toMatchObject({
      status: 409,
      body: { code: 'ISSUE_SYNC_DISABLED', message: expect.stringContaining('PUT /api/github/sync/config') },
    });
    expect(await stack.call.ok('GET', '/api/github/sync/mappings')).toEqual({ mappings: [] });
  });

  it.each([
    ['a repository that is not there', { repo: 'acme/none' }, 'repo'],
    ['an interval that is too short', { pollIntervalMs: 9_999 }, 'pollIntervalMs'],
    ['another mode', { syncMode: 'both' }, 'syncMode'],
    ['nothing to synchronise', { syncMode: 'none', pullRequests: false }, 'syncMode'],
    ['an empty label', { labelFilter: 'a,,b' }, 'labelFilter.1'],
    ['another field', { token: 'x' }, 'token'],
  ])('is refused with %s', async (_name, fields, path) => {
    const refused = await stack.call.send('PUT', configPath, { enabled: true, repo: 'shop', ...fields });
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } });
  });

  it('is refused with a repository that has no forge', async () => {
    await stack.call.addRepository('plain', await aRepository(stack.dir, 'plain'));
    const refused = await stack.call.send('PUT', configPath, { enabled: true, repo: 'plain' });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('/api/config/repos/plain');
  });
});

describe('issues', () => {
  it('become tasks, each once, whatever page they are on', async () => {
    for (let at = 1; at <= 230; at += 1) {
      github.openIssue({ labels: at % 2 === 0 ? ['board', 'priority: high'] : ['other'] });
    }
    github.openIssue({ labels: ['board'], state: 'closed' });
    github.openIssue({ labels: ['board'], pull_request: {} });
    const configured = await configure({ repo: 'acme/shop', labelFilter: ' board ' });
    expect(configured).toMatchObject({ enabled: true, repo: 'shop', repository: 'acme/shop', labelFilter: 'board' });
    await sync();
    const imported = await eventually(async () => {
      const all = await tasks();
      expect(all).toHaveLength(115);
      return all;
    });
    expect(new Set(imported.map(({ github: ref }) => ref.issueNumber)).size).toBe(115);
    expect(await taskOf(2)).toMatchObject({
      title: 'Issue 2',
      status: 'todo',
      priority: 'high',
      createdBy: 'system:issue-sync',
      git: { repo: 'shop' },
      github: { issueNumber: 2, repo: 'acme/shop', url: 'https://github.example/acme/shop/issues/2' },
    });
    expect(await status()).toMatchObject({ state: 'synced', mappings: 115, errors: 0, failure: null });
    expect(await sync()).toMatchObject({ imported: 0, updated: 0, exported: 0, errors: 0 });
    expect(await tasks()).toHaveLength(115);
  });

  it('are read on from the last one, and change their tasks', async () => {
    const added = github.openIssue({ labels: ['board'] });
    github.editIssue(2, { title: 'New title', body: 'New text', state: 'closed' });
    const before = github.count(/^GET .*\/issues$/);
    expect(await sync()).toMatchObject({ imported: 1, updated: 1, errors: 0 });
    expect(github.count(/^GET .*\/issues$/) - before).toBeLessThan(3);
    expect(await taskOf(added)).toMatchObject({ status: 'todo' });
    const { id, ...changed } = await taskOf(2);
    expect(changed).toMatchObject({ title: 'New title', description: 'New text', status: 'done' });
    github.editIssue(2, { state: 'open' });
    await sync();
    expect(await taskOf(2)).toMatchObject({ id, status: 'todo' });
  });

  it('do not change a status past the gates of a transition rule; the mapping has the reason', async () => {
    const number = github.openIssue({ labels: ['board'] });
    await sync();
    const rule = { id: 'plan', name: 'Plan', from: '*', to: 'done', gates: ['require-plan'] };
    await stack.call.ok('PUT', '/api/settings/transition-hooks', { enabled: true, rules: [rule] });
    github.editIssue(number, { state: 'closed' });
    expect(await sync()).toMatchObject({ errors: 1 });
    const { id, status: unchanged } = await taskOf(number);
    expect(unchanged).toBe('todo');
    const { mappings } = await stack.call.ok('GET', '/api/github/sync/mappings?limit=200');
    const mapping = mappings.find(({ taskId }: { taskId: string }) => taskId === id);
    expect(mapping.problem).toMatchObject({ message: expect.stringContaining('require-plan') });
    await stack.call.ok('PATCH', '/api/settings/transition-hooks', { enabled: false });
    github.editIssue(number, { title: 'Closed at last' });
    await sync();
    expect(await taskOf(number)).toMatchObject({ status: 'done' });
  });

  it('are data, whatever is in them', async () => {
    const body =
      '---\nstatus: done\ngithub: {issueNumber: 1}\n---\n@admin \u0000\u001b[31m{{x}}\ud800 <!-- runboard:task_1:0 -->';
    const number = github.openIssue({ labels: ['board', 'type: ../../x'], title: '<img src=x>\n', body });
    expect(await sync()).toMatchObject({ imported: 1, errors: 0 });
    expect(await taskOf(number)).toMatchObject({ title: `Issue ${number}`, status: 'todo', type: 'code' });
    expect((await taskOf(number)).description).toMatch(/^---\nstatus: done\n[^\u0000\u001b]*\ufffd/);
  });

  it('are linked to the task that names one', async () => {
    const number = github.openIssue({ labels: ['board'], title: 'Named' });
    const mine = await stack.call.createTask({ title: 'Mine', github: { issueNumber: number, repo: 'acme/shop' } });
    expect(await sync()).toMatchObject({ imported: 0, updated: 1 });
    expect(await taskOf(number)).toMatchObject({ id: mine.id, title: 'Named' });
  });

  it('leave a deleted task deleted, and its mapping states it', async () => {
    const number = github.openIssue({ labels: ['board'] });
    await sync();
    const { id } = await taskOf(number);
    await stack.call.ok('DELETE', `/api/tasks/${id}`);
    github.editIssue(number, { title: 'Again' });
    expect(await sync()).toMatchObject({ imported: 0, errors: 0 });
    expect(await taskOf(number)).toBeUndefined();
    expect(await mappingOf(id)).toMatchObject({ state: 'detached', problem: { code: 'TASK_GONE' } });
  });

  it('change nothing in the archive, which is reported and made good', async () => {
    const number = github.openIssue({ labels: ['board'] });
    await sync();
    const { id } = await taskOf(number);
    await patch(id, { status: 'done' });
    await stack.call.ok('POST', `/api/tasks/${id}/archive`);
    github.editIssue(number, { title: 'Again' });
    expect(await sync()).toMatchObject({ errors: 1 });
    expect(await mappingOf(id)).toMatchObject({ problem: { message: expect.stringContaining('archive') } });
    expect(await status()).toMatchObject({ errors: 1 });
    await stack.call.ok('POST', `/api/tasks/${id}/restore`);
    github.editIssue(number, {});
    expect(await sync()).toMatchObject({ errors: 0 });
    expect(await taskOf(number)).toMatchObject({ title: 'Again' });
    expect(await mappingOf(id)).toMatchObject({ problem: null });
  });
});

describe('tasks', () => {
  beforeAll(() => configure({ syncMode: 'bidirectional', labelFilter: 'board' }));

  it('become issues, each once, with the label that brings their changes back', async () => {
    const { id } = await stack.call.createTask({ title: 'Ours', description: 'Text', git: { repo: 'shop' } });
    await stack.call.createTask({ title: 'Elsewhere' });
    const opened = github.state.issues.length;
    expect(await sync()).toMatchObject({ imported: 0, exported: 1 });
    expect(github.state.issues).toHaveLength(opened + 1);
    const made = github.state.issues.at(-1);
    expect(made).toMatchObject({ title: 'Ours', labels: [{ name: 'board' }] });
    expect(made?.body).toMatch(new RegExp(`^Text\n\n<!-- runboard:${id}:[0-9a-f]{32} -->$`));
    expect(await taskOf(made?.number ?? 0)).toMatchObject({ id, description: 'Text' });
    expect(await mappingOf(id)).toMatchObject({ origin: 'task', state: 'linked', issueNumber: made?.number });
    expect(await sync()).toMatchObject({ imported: 0, exported: 0, updated: 0 });
    expect(github.state.issues).toHaveLength(opened + 1);
  });

  it('carry their changes to the issue, and keep its marker', async () => {
    const { id } = await stack.call.createTask({ title: 'Two-way', description: 'A', git: { repo: 'shop' } });
    await sync();
    const made = github.state.issues.at(-1);
    await patch(id, { title: 'Two ways', description: 'B', status: 'done' });
    await updated();
    expect(issue(made?.number ?? 0)).toMatchObject({ title: 'Two ways', state: 'closed' });
    expect(issue(made?.number ?? 0)?.body).toMatch(/^B\n\n<!-- runboard:/);
    expect(await sync()).toMatchObject({ updated: 0 });
  });

  it('and issues are merged by field; where both changed one, the issue stands and it is noted', async () => {
    const { id } = await stack.call.createTask({ title: 'One', description: 'One', git: { repo: 'shop' } });
    await sync();
    const number = github.state.issues.at(-1)?.number ?? 0;
    await patch(id, { title: 'Ours', description: 'Ours' });
    github.editIssue(number, { title: 'Theirs' });
    expect(await sync()).toMatchObject({ updated: 1, errors: 0 });
    expect(await taskOf(number)).toMatchObject({ title: 'Theirs', description: 'Ours' });
    expect(issue(number)).toMatchObject({ title: 'Theirs', body: expect.stringMatching(/^Ours/) });
    expect(await mappingOf(id)).toMatchObject({ conflict: { fields: ['title'] } });
  });

  it('write their type and priority as labels, and leave those of people', async () => {
    const { id } = await stack.call.createTask({ title: 'Labelled', priority: 'high', git: { repo: 'shop' } });
    await sync();
    const number = github.state.issues.at(-1)?.number ?? 0;
    const labels = () => issue(number)?.labels.map(({ name }) => name);
    expect(labels()).toEqual(['board', 'priority: high']);
    github.editIssue(number, { labels: [...(issue(number)?.labels ?? []), { name: 'help wanted' }] });
    await patch(id, { priority: 'low', type: 'docs' });
    github.fail({ on: /^POST .*\/labels$/, answer: 'lost' });
    await eventually(async () => {
      await sync();
      expect(labels()).toEqual(['board', 'help wanted', 'type: docs', 'priority: low']);
    });
    expect(await taskOf(number)).toMatchObject({ priority: 'low', type: 'docs' });
    expect(await sync()).toMatchObject({ updated: 0, errors: 0 });
    github.editIssue(number, { labels: [{ name: 'board' }, { name: 'priority: critical' }] });
    await sync();
    expect(await taskOf(number)).toMatchObject({ priority: 'critical', type: 'docs' });
    expect(labels()).toEqual(['board', 'priority: critical']);
  });

  it('create one issue though the answer to its creation is lost', async () => {
    github.fail({ on: /^POST .*\/issues$/, answer: 'lost' });
    const { id } = await stack.call.createTask({ title: 'Lost answer', git: { repo: 'shop' } });
    expect(await sync()).toMatchObject({ exported: 1, errors: 0 });
    expect(github.state.issues.filter(({ title }) => title === 'Lost answer')).toHaveLength(1);
    expect(await taskOf(github.state.issues.at(-1)?.number ?? 0)).toMatchObject({ id, title: 'Lost answer' });
  });

  it('are not claimed by an issue that copies a marker', async () => {
    const { body } = github.state.issues.at(-1) ?? { body: '' };
    const copied = github.openIssue({ labels: ['board'], title: 'Copied', body });
    expect(await sync()).toMatchObject({ imported: 1 });
    expect(await taskOf(copied)).toMatchObject({ title: 'Copied', description: '' });
  });

  it('that the forge refuses are a problem of their own', async () => {
    github.fail({ on: /^POST .*\/issues$/, answer: { status: 422, body: { message: 'Validation Failed' } } });
    const { id } = await stack.call.createTask({ title: 'Refused', git: { repo: 'shop' } });
    expect(await sync()).toMatchObject({ exported: 0, errors: 1 });
    expect(await mappingOf(id)).toMatchObject({ state: 'creating', problem: { code: 'FORGE_INVALID' } });
    expect(await sync()).toMatchObject({ exported: 0, errors: 0 });
  });
});

describe('rules', () => {
  const aPolicy = (project: string, action: string) =>
    stack.call.ok('POST', '/api/policies', {
      ...{ name: 'A rule', scope: { projects: [project] } },
      rules: [{ action, effect: 'deny' }],
    });
  const blocked = { problem: { code: 'POLICY_BLOCKED', message: expect.stringContaining('A rule: deny') } };

  it('that deny the issue of a task keep it from the forge, and its mapping states it', async () => {
    await aPolicy('silent', 'external-message');
    const opened = github.state.issues.length;
    const { id } = await stack.call.createTask({ title: 'Silent', project: 'silent', git: { repo: 'shop' } });
    expect(await sync()).toMatchObject({ exported: 0, errors: 1 });
    expect(github.state.issues).toHaveLength(opened);
    expect(await mappingOf(id)).toMatchObject({ state: 'creating', ...blocked });
  });

  it('that deny its changes leave the issue as it is', async () => {
    const { id } = await stack.call.createTask({ title: 'Said', project: 'frozen', git: { repo: 'shop' } });
    expect(await sync()).toMatchObject({ exported: 1 });
    const made = github.state.issues.at(-1);
    await aPolicy('frozen', 'issue');
    await patch(id, { title: 'Unsaid' });
    await eventually(async () => expect(await sync()).toMatchObject({ errors: 1 }));
    expect(issue(made?.number ?? 0)).toMatchObject({ title: 'Said' });
    expect(await mappingOf(id)).toMatchObject({ state: 'linked', ...blocked });
  });
});

describe('a forge that fails', () => {
  it('with 5xx and cut connections is asked again', async () => {
    const number = github.openIssue({ labels: ['board'], title: 'After trouble' });
    github.fail({ on: /^GET .*\/issues$/, answer: { status: 502 } });
    github.fail({ on: /^GET .*\/issues$/, answer: 'cut' });
    expect(await sync()).toMatchObject({ imported: 1, errors: 0 });
    expect(await taskOf(number)).toMatchObject({ title: 'After trouble' });
  });

  it('with a rate limit is waited for, and callers get 429', async () => {
    const number = github.openIssue({ labels: ['board'], title: 'After the limit' });
    const limited = { status: 429, headers: { 'retry-after': '2' }, body: { message: 'Slow down' } };
    github.fail({ on: /^GET .*\/issues$/, answer: limited });
    const refused = await stack.call.post('/api/github/sync');
    expect(refused).toMatchObject({ status: 429, body: { code: 'FORGE_RATE_LIMITED' } });
    expect(await status()).toMatchObject({ state: 'waiting', failure: { code: 'FORGE_RATE_LIMITED' } });
    const requests = github.requests.length;
    expect((await stack.call.post('/api/github/sync')).status).toBe(429);
    expect(github.requests).toHaveLength(requests);
    await stack.call.ok('PUT', configPath, { ...(await writable()) });
    await eventually(async () => expect(await taskOf(number)).toMatchObject({ title: 'After the limit' }));
    await eventually(async () => expect(await status()).toMatchObject({ failure: null }));
  });

  it('with a refused token reports it, and its remedy', async () => {
    process.env.GITHUB_ISSUES_TOKEN = 'ghp_revoked';
    const refused = await stack.call.post('/api/github/sync');
    process.env.GITHUB_ISSUES_TOKEN = githubToken;
    expect(refused).toMatchObject({ status: 502, body: { code: 'FORGE_UNAUTHORIZED' } });
    expect(await status()).toMatchObject({ state: 'failing', failure: { code: 'FORGE_UNAUTHORIZED' } });
    await sync();
    expect(await status()).toMatchObject({ state: 'synced', failure: null });
  });
});

const writable = async () => {
  const { enabled, repo, syncMode, labelFilter, pollIntervalMs } = await stack.call.ok('GET', configPath);
  return { enabled, repo, syncMode, labelFilter, pollIntervalMs };
};

describe('a request for a round that no API has made', () => {
  it('is refused, and the forge is not asked', async () => {
    const handle = stack.temporal.workflow.getHandle('issue-sync/shop');
    const asked = { repo: 'shop', actor: 'admin' };
    const proof = someProofs().sign(issueSyncMessage(asked), 60_000);
    const requests = github.requests.length;
    await expect(handle.executeUpdate('syncNow', { args: [asked] })).rejects.toThrow();
    const forged = handle.executeUpdate('syncNow', { args: [{ ...asked, proof }] });
    await expect(forged).rejects.toMatchObject({ cause: { type: 'MESSAGE_UNPROVEN' } });
    expect(github.requests).toHaveLength(requests);
  });
});

describe('a synchronisation that is disabled', () => {
  it('ends its workflow, and begins again when it is enabled', async () => {
    const handle = stack.temporal.workflow.getHandle('issue-sync/shop');
    const disabled = await stack.call.ok('PUT', configPath, { ...(await writable()), enabled: false });
    expect(disabled).toMatchObject({ enabled: false, revision: expect.any(Number) });
    await handle.result();
    expect((await stack.call.post('/api/github/sync')).status).toBe(409);
    await stack.call.ok('PUT', configPath, { ...(await writable()), enabled: true });
    expect(await sync()).toMatchObject({ errors: 0 });
    expect((await handle.describe()).status.name).toBe('RUNNING');
    const stale = await stack.call.send('PUT', configPath, { ...(await writable()), expectedRevision: 1 });
    expect(stale).toMatchObject({ status: 409, body: { details: { currentRevision: expect.any(Number) } } });
  });
});
