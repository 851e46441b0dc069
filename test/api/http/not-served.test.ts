import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';

const page = join(__dirname, '..', '..', '..', 'docs', 'use', 'not-served.md');

describe('what is named and not served', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startWholeTestApi();
  });
  afterAll(() => board.close());

  it('is refused as a path that does not exist', async () => {
    const paths = [...(await readFile(page, 'utf8')).matchAll(/^\| `(\/api\/[^`]+)`/gm)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) {
      const reply = await board.call('GET', path.replace('{taskId}', 'task_20260101_absent'));
      expect([path, reply.status, reply.body.code]).toEqual([path, 404, 'NOT_FOUND']);
    }
  });
});
