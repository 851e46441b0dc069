import { parseTask, printTask, TaskDocumentError } from './task-document';

const writtenAt = new Date('2026-02-03T04:05:06.000Z');
const read = (text: string) => parseTask(text, writtenAt).task;

const whole = `---
id: task_20260101_ab12cd
title: Fix the login
type: bug
status: in-progress
priority: high
project: site
created: 2026-01-01T10:00:00.000Z
updated: 2026-01-02T10:00:00.000Z
revision: 7
createdBy: user:anna
updatedBy: agent:claudius
git:
  repo: site
  baseBranch: main
subtasks:
  - id: s1
    title: Look
    completed: true
    mood: good
points: 8
---

Please fix it.

## Review Comments
- **src/a.ts:3** - why?
`;

describe('task document', () => {
  test.each(['jira', ['jira'], { name: 'Some Tracker' }, { name: 'github', id: 7 }])(
    'keeps the source %j that a person has written on a comment',
    (source) => {
      const comment = { id: 'c1', author: 'ada', text: 'x', timestamp: '2026-01-01T10:00:00.000Z', source };
      const text = whole.replace('points: 8', `comments: ${JSON.stringify([comment])}\npoints: 8`);
      const task = read(text);
      expect(task.comments).toMatchObject([{ source }]);
      expect(read(printTask(task)).comments).toMatchObject([{ source }]);
    },
  );

  test.each([
    ['comments', 'text', { author: 'unknown', timestamp: writtenAt.toISOString(), revision: 1 }],
    ['subtasks', 'title', { completed: false }],
    ['verificationSteps', 'description', { checked: false }],
    ['deliverables', 'title', { type: 'other', status: 'pending' }],
    ['observations', 'content', { type: 'context', score: 5 }],
  ])('reads %s that have an id and a %s alone', (field, text, defaults) => {
    const part = { id: 'p1', [text]: 'hi' };
    const { task, source } = parseTask(`---\nid: TASK-1\n${field}: ${JSON.stringify([part])}\n---\n`, writtenAt);
    expect(task[field]).toMatchObject([{ ...part, ...defaults }]);
    expect(parseTask(printTask(task, { original: source }), new Date(0)).task).toEqual(task);
  });

  test.each([
    ['revision: 7', `revision: ${Number.MAX_SAFE_INTEGER}`],
    ['points: 8', `comments: [{id: c1, text: hi, revision: ${Number.MAX_SAFE_INTEGER}}]`],
  ])('refuses a revision in place of %j that no other can follow', (written, edited) => {
    expect(() => read(whole.replace(written, edited))).toThrow(/revision: .*9000000000000000/);
    expect(read(whole.replace(written, edited.replace(/\d{2,}/, '8000000000000000')))).toBeDefined();
  });

  test('reads the times under our names and keeps what no schema knows', () => {
    const task = read(whole);
    expect(task).toMatchObject({
      createdAt: '2026-01-01T10:00:00.000Z',
      updatedAt: '2026-01-02T10:00:00.000Z',
      revision: 7,
      points: 8,
      subtasks: [{ id: 's1', completed: true, mood: 'good' }],
      description: 'Please fix it.\n\n## Review Comments\n- **src/a.ts:3** - why?',
    });
    expect(task).not.toHaveProperty('created');
  });

  test('writes what it read, to the byte', () => {
    const { task, source } = parseTask(whole, writtenAt);
    expect(printTask(task, { original: source })).toBe(whole);
    expect(printTask(task)).toBe(whole);
  });

  test('writes fields in the order of the format, wherever they came from', () => {
    const { task, source } = parseTask('---\npoints: 8\nupdatedAt: 2026-01-31\nid: TASK-1\n---\n', writtenAt);
    expect(printTask(task, { original: source })).toBe(`---
id: TASK-1
title: Untitled
type: code
status: todo
priority: medium
created: 2026-02-03T04:05:06.000Z
updated: 2026-01-31T00:00:00.000Z
revision: 1
points: 8
---
`);
  });

  test('an empty field is no field, unless we do not know what it means', () => {
    const task = read('---\nid: TASK-1\nproject:\nblockedReason: null\nmystery:\n---\n');
    expect(task).not.toHaveProperty('project');
    expect(task).toMatchObject({ blockedReason: null, mystery: null });
  });

  test('a description among the fields moves below them', () => {
    const { task } = parseTask('---\nid: TASK-1\ndescription: hello\n---\n', writtenAt);
    expect(printTask(task)).toMatch(/---\n\nhello\n$/);
    expect(() => read('---\nid: TASK-1\ndescription: a\n---\nb\n')).toThrow('description: is the text below');
  });

  test.each([
    ['no id', 'title: a', 'id: '],
    ['an id that is a path', 'id: ../../etc/passwd', 'id: must look like'],
    ['a title that is a list', 'id: TASK-1\ntitle: [a]', 'title: '],
    ['a status without a column', 'id: TASK-1\nstatus: sleeping', 'status: '],
    ['a revision that is text', 'id: TASK-1\nrevision: "7"', 'revision: '],
    ['a negative revision', 'id: TASK-1\nrevision: -1', 'revision: '],
    ['a time that is none', 'id: TASK-1\ncreated: yesterday', 'created: '],
    ['a title of 300 characters', `id: TASK-1\ntitle: ${'x'.repeat(300)}`, 'title: '],
    ['control characters', 'id: TASK-1\ntitle: "a\\u0007b"', 'title: must not contain control characters'],
  ])('refuses %s', (_name, fields, problem) => {
    expect(() => read(`---\n${fields}\n---\n`)).toThrow(TaskDocumentError);
    expect(() => read(`---\n${fields}\n---\n`)).toThrow(problem);
  });
});
