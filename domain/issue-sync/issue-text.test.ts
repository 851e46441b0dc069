import type { ForgeIssue } from '../../contracts/integrations/forge';
import { task } from '../../contracts/tasks/task';
import { aTask } from '../../test/support/factories/task';
import { fieldsOfIssue, fitsTask, issueBody, markerIn } from './issue-text';
import { fieldsOfLabels } from './labels';

const anIssue = (fields: Partial<ForgeIssue> = {}): ForgeIssue => ({
  number: 7,
  url: 'https://github.example/acme/shop/issues/7',
  title: 'Broken',
  body: 'It is.',
  state: 'open',
  labels: [],
  author: 'mona',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...fields,
});
const nonce = '0123456789abcdef0123456789abcdef';

describe('the text of an issue', () => {
  it.each([
    ['control characters', 'a\u0000b\u001b[31mc\u0007\u009b', 'abc'],
    ['line ends', 'a\r\nb\rc', 'a\nb\nc'],
    ['halves of characters', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['a front matter', '---\nstatus: done\n---\n', '---\nstatus: done\n---'],
    ['a marker', `words ${issueBody('', { taskId: 'task_1', nonce })}`, 'words'],
    ['nothing', '', ''],
  ])('is stored without harm: %s', (_what, body, expected) => {
    expect(fieldsOfIssue(anIssue({ body })).body).toBe(expected);
  });

  it.each([
    ['<script>alert(1)</script>Broken', 'alert(1)Broken'],
    ['two\nlines\tand  spaces', 'two lines and spaces'],
    ['', 'Issue 7'],
    ['<b></b>\u0000', 'Issue 7'],
    ['x'.repeat(300), 'x'.repeat(200)],
    [`${'x'.repeat(199)}😀`, 'x'.repeat(199)],
    ['@everyone look', '@everyone look'],
  ])('%j becomes the title %j', (title, expected) => {
    expect(fieldsOfIssue(anIssue({ title })).title).toBe(expected);
  });

  it('is cut with a notice where a task cannot have it, and is a valid task', () => {
    const issue = anIssue({ body: '😀'.repeat(60_000), title: '\ud83d'.repeat(500) });
    const { title, body } = fieldsOfIssue(issue);
    expect(fitsTask(issue)).toBe(false);
    expect(fitsTask(anIssue())).toBe(true);
    expect(body).toMatch(/…/);
    expect(task.safeParse(aTask({ title, description: body })).success).toBe(true);
  });
});

describe('the marker of an issue', () => {
  it('is found where it was written, and the last one counts', () => {
    const marked = issueBody('Words', { taskId: 'task_20260101_abcdef', nonce });
    expect(marked).toBe(`Words\n\n<!-- runboard:task_20260101_abcdef:${nonce} -->`);
    expect(markerIn(`${issueBody('', { taskId: 'TASK-1', nonce: 'f'.repeat(32) })}\n${marked}`)).toEqual({
      taskId: 'task_20260101_abcdef',
      nonce,
    });
    expect(fieldsOfIssue(anIssue({ body: marked })).body).toBe('Words');
  });

  it.each(['', '<!-- runboard:../x:00 -->', `<!-- runboard:task_1:${nonce.toUpperCase()} -->`])(
    'is not found in %j',
    (body) => expect(markerIn(body)).toBeUndefined(),
  );
});

describe('the labels of an issue', () => {
  it.each([
    [['priority: high', 'type/bug'], { priority: 'high', type: 'bug' }],
    [['Priority::LOW', 'type: Bug-Fix'], { priority: 'low', type: 'bug-fix' }],
    [['priority: soon', 'type: ../x', 'bug', 'priority'], {}],
    [['type: a', 'type: b'], { type: 'a' }],
  ])('%j set %j', (labels, expected) => expect(fieldsOfLabels(labels)).toEqual(expected));
});
