import { eventually } from '../../../platform/testing/eventually';
import type { GithubServer } from '../../support/forges/github-server';
import type { Stack } from '../../support/stack/stack';
import { startWithForge } from './synchronised-repository';

let stack: Stack;
let github: GithubServer;

beforeAll(async () => {
  ({ stack, github } = await startWithForge('GITHUB_COMMENTS_TOKEN'));
});
afterAll(() => Promise.all([stack.close(), github.close()]));

const configure = (fields: object = {}) =>
  stack.call.ok('PUT', '/api/github/sync/config', {
    ...{ enabled: true, repo: 'shop', syncMode: 'bidirectional', pollIntervalMs: 3_600_000, comments: true },
    ...fields,
  });
const sync = () => stack.call.ok('POST', '/api/github/sync');
const taskOf = async (number: number): Promise<string> => {
  const { mappings } = await stack.call.ok('GET', '/api/github/sync/mappings');
  return mappings.find(({ issueNumber }: { issueNumber: number }) => issueNumber === number).taskId;
};
const commentsOf = async (taskId: string): Promise<{ id: string; text: string }[]> =>
  stack.call.ok('GET', `/api/tasks/${taskId}/comments`);
const textsOf = async (taskId: string) => (await commentsOf(taskId)).map(({ text }) => text);
const write = (taskId: string, text: string) => stack.call.ok('POST', `/api/tasks/${taskId}/comments`, { text });
const bodies = (number: number) => (github.state.comments.get(number) ?? []).map(({ body }) => body);
/** Rounds until the issue has so many comments: the worker's list of tasks may be behind a comment that was just written. */
const sent = (number: number, count: number) =>
  eventually(async () => {
    expect(await sync()).toMatchObject({ errors: 0 });
    expect(bodies(number)).toHaveLength(count);
  });

describe('comments of an issue and its task', () => {
  let number: number;
  let taskId: string;

  it('stay where they are until they are to be synchronised', async () => {
    number = github.openIssue({ title: 'Discussed' });
    github.comment(number, 'First');
    expect(await configure({ comments: false })).toMatchObject({ comments: false, commentsSince: null });
    await sync();
    taskId = await taskOf(number);
    await write(taskId, 'Internal');
    await sync();
    expect(await textsOf(taskId)).toEqual(['Internal']);
    expect(bodies(number)).toEqual(['First']);
  });

  it('are brought to the task, with their authors, and none that was written before to the issue', async () => {
    expect(await configure()).toMatchObject({ comments: true, commentsSince: expect.any(String) });
    expect(await sync()).toMatchObject({ updated: 1, errors: 0 });
    expect(await commentsOf(taskId)).toMatchObject([
      { text: 'Internal' },
      { text: 'First', author: 'mona', createdBy: 'system:issue-sync', source: { name: 'github' } },
    ]);
    expect(await sync()).toMatchObject({ updated: 0 });
    expect(bodies(number)).toEqual(['First']);
  });

  it('are brought to the issue, once, though an answer is lost', async () => {
    github.fail({ on: /^POST .*\/comments$/, answer: 'lost' });
    await write(taskId, 'Second');
    await write(taskId, 'Third');
    await sent(number, 3);
    expect(bodies(number)[1]).toMatch(/^\*\*`.+` wrote:\*\*\n\nSecond\n\n<!-- runboard-comment:[0-9a-f]{32} -->$/);
    await sync();
    expect(await textsOf(taskId)).toEqual(['Internal', 'First', 'Second', 'Third']);
    expect(bodies(number)).toHaveLength(3);
  });

  it('are not taken over when they are changed or deleted later', async () => {
    const [, first, second] = await commentsOf(taskId);
    await stack.call.ok('DELETE', `/api/tasks/${taskId}/comments/${first?.id}`);
    await stack.call.ok('PATCH', `/api/tasks/${taskId}/comments/${second?.id}`, { text: 'Second, edited' });
    github.comment(number, 'Fourth');
    await eventually(async () => {
      await sync();
      expect(await textsOf(taskId)).toEqual(['Internal', 'Second, edited', 'Third', 'Fourth']);
    });
    expect(bodies(number)).toHaveLength(4);
    expect(bodies(number)[1]).toContain('Second\n');
  });

  it('are not hidden by a copied marker', async () => {
    const marker = /<!-- .* -->/.exec(bodies(number)[1] ?? '')?.[0] ?? '';
    github.comment(number, `Copied ${marker}`);
    await write(taskId, 'Fifth');
    await sent(number, 6);
    await sync();
    expect((await textsOf(taskId)).slice(-2).sort()).toEqual(['Copied', 'Fifth']);
  });

  it('go the way that the mode allows', async () => {
    await configure({ syncMode: 'inbound' });
    await write(taskId, 'Not sent');
    github.comment(number, 'Brought in');
    await sync();
    expect(await textsOf(taskId)).toEqual(expect.arrayContaining(['Not sent', 'Brought in']));
    expect(bodies(number)).toHaveLength(7);
    await configure({ syncMode: 'outbound' });
    github.comment(number, 'Not brought in');
    await sent(number, 9);
    expect(bodies(number).at(-1)).toContain('Not sent');
    expect(await textsOf(taskId)).not.toContain('Not brought in');
  });

  it('that the forge refuses are a problem of the pair', async () => {
    github.fail({ on: /^POST .*\/comments$/, answer: { status: 403, body: { message: 'Locked' } } });
    await write(taskId, 'To a locked issue');
    await eventually(async () => {
      await sync();
      const { mappings } = await stack.call.ok('GET', '/api/github/sync/mappings');
      expect(mappings).toMatchObject([{ problem: { code: 'FORGE_FORBIDDEN' } }]);
    });
  });

  it('that were deleted before they were sent are looked for no more', async () => {
    const refused = (await commentsOf(taskId)).find(({ text }) => text === 'To a locked issue');
    await stack.call.ok('DELETE', `/api/tasks/${taskId}/comments/${refused?.id}`);
    await configure();
    github.editIssue(number, { title: 'Discussed again' });
    await eventually(async () => {
      await sync();
      const { mappings } = await stack.call.ok('GET', '/api/github/sync/mappings');
      expect(mappings).toMatchObject([{ problem: null }]);
    });
    await sync();
    const reads = github.count(new RegExp(`^GET .*/issues/${number}\\b`));
    await sync();
    expect(github.count(new RegExp(`^GET .*/issues/${number}\\b`))).toBe(reads);
  });
});
