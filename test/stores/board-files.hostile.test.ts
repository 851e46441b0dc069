import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import type { Board } from '../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness, fileText } from './board-files/harness';

let harness: BoardHarness;
let board: Board;

beforeEach(async () => {
  harness = await boardHarness();
  board = await harness.open();
});
afterEach(() => harness.close());

const path = 'active/TASK-1-bad.md';

describe('hostile board files', () => {
  test.each<[string, string | Buffer, string]>([
    ['NUL bytes', '---\nid: TASK-1\n---\n\u0000', 'NUL'],
    ['bytes that are not UTF-8', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]), 'UTF-8'],
    ['3 MiB', `---\nid: TASK-1\n---\n${'x'.repeat(3 * 1024 * 1024)}`, '2 MiB'],
    ['an empty file', '', 'three dashes'],
    ['wrong types', '---\nid: TASK-1\ntitle: {a: 1}\nsubtasks: 5\n---\n', 'title: '],
    ['an id that is a path', fileText({ id: '../../../tmp/x' }), 'id: '],
    ['a prototype', '---\nid: TASK-1\n__proto__:\n  polluted: true\n---\n', '__proto__'],
    ['a billion laughs', `---\na: &a [x]\nb: &b [*a,*a]\nid: TASK-1\n---\n`, 'aliases'],
    ['a bomb of brackets', `---\nid: ${'['.repeat(100_000)}\n---\n`, 'nested'],
  ])('a file with %s is a diagnostic and nothing else', async (_name, content, problem) => {
    await writeFile(join(harness.dir, path), content);
    await eventually(() =>
      expect(board.diagnostics()).toMatchObject([
        { location: 'active', path, message: expect.stringContaining(problem) },
      ]),
    );
    await expect(board.update('TASK-1', () => ({ title: 'b' }), { actor })).rejects.toMatchObject({ status: 409 });
    expect(board.list({}).total).toBe(0);
    expect({}).not.toHaveProperty('polluted');
    await expect(board.create({ title: 'fine' }, { actor })).resolves.toMatchObject({ title: 'fine' });
  });

  test.each([' \n', 'one\n \n%YAML 1.2', ' \n\t\n', '\n \n'])(
    'the text %j of a caller is written as it is, in a new task and in a change of one',
    async (text) => {
      const { id } = await board.create({ title: 'lines', plan: text }, { actor });
      const tags = [text, { text }];
      await board.update(id, () => ({ lessonsLearned: text, tags }), { actor });
      const again = await harness.open();
      expect((await again.get(id))?.task).toMatchObject({ plan: text, lessonsLearned: text, tags });
    },
  );

  test('symbolic links and pipes are not opened', async () => {
    const secret = join(harness.dir, '..', 'secret.md');
    await writeFile(secret, fileText({ id: 'TASK-1', title: 'secret' }));
    await symlink(secret, join(harness.dir, path));
    await symlink('/dev/zero', join(harness.dir, 'backlog/zero.md'));
    execFileSync('mkfifo', [join(harness.dir, 'active/pipe.md')]);
    await mkdir(join(harness.dir, 'archive/folder.md'));
    const reopened = await harness.open();
    expect(
      reopened
        .diagnostics()
        .map((one) => `${one.code} ${one.path}: ${one.message}`)
        .sort(),
    ).toEqual([
      `unreadable active/TASK-1-bad.md: The file is a symbolic link; task files are regular files.`,
      `unreadable active/pipe.md: The file is not a regular file.`,
      `unreadable archive/folder.md: The file is not a regular file.`,
      `unreadable backlog/zero.md: The file is a symbolic link; task files are regular files.`,
    ]);
    await expect(reopened.get('TASK-1')).rejects.toMatchObject({ status: 409 });
    await rm(join(harness.dir, 'active/pipe.md'));
  });

  test('a folder that leads out of the board directory refuses to open', async () => {
    await board.close();
    await rm(join(harness.dir, 'backlog'), { recursive: true });
    await symlink('/tmp', join(harness.dir, 'backlog'));
    await expect(harness.open()).rejects.toThrow('is not a directory');
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['is larger than a file may be', { notes: 'x'.repeat(2 * 1024 * 1024) }, '2 MiB'],
    ['has more lines than are parsed', { plan: 'a\n'.repeat(45_000) }, 'entries'],
  ])('a change after which the task %s is refused, and the task stays readable', async (_name, change, reason) => {
    const { id } = await board.create({ title: 'small' }, { actor });
    await expect(board.update(id, () => change, { actor })).rejects.toMatchObject({
      status: 413,
      code: 'TASK_TOO_LARGE',
      message: expect.stringContaining(reason),
    });
    expect((await board.get(id))?.task).toMatchObject({ title: 'small', revision: 1 });
  });
});
