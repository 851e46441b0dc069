import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Board } from '../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness, fileText } from './board-files/harness';

let harness: BoardHarness;
let board: Board;

describe('progress files', () => {
  beforeEach(async () => {
    harness = await boardHarness();
    board = await harness.open();
  });
  afterEach(() => harness.close());

  it('loses nothing that two processes append at once', async () => {
    const other = await harness.open();
    const { id } = await board.create({ title: 'a' }, { actor });
    const numbers = Array.from({ length: 20 }, (_, number) => `${number}`);
    await Promise.all(
      numbers.map((number, index) => (index % 2 ? board : other).progress.change(id, (text) => `${text}${number}\n`)),
    );
    const lines = (await board.progress.read(id)).trimEnd().split('\n');
    expect(lines.sort()).toEqual([...numbers].sort());
  });

  it('is gone from a task in the archive, which takes none', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    await board.progress.change(id, () => 'x');
    await rename(join(harness.dir, `active/${id}-a.md`), join(harness.dir, `archive/${id}-a.md`));
    expect(await board.progress.read(id)).toBe('');
    await expect(board.progress.change(id, () => 'y')).rejects.toMatchObject({ status: 409 });
  });

  it('is gone when a deletion that was interrupted is finished', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    await board.progress.change(id, () => 'x');
    await board.close();
    const deletedAt = '2026-01-01T00:00:00.000Z';
    await harness.write(`active/${id}-a.md`, fileText({ id, title: 'a', deletedAt }));
    await harness.open();
    expect(await harness.files('archive')).toEqual([`${id}-a.md`]);
    expect(await harness.files('progress')).toEqual([]);
  });

  it('never leads to a file elsewhere', async () => {
    await expect(board.progress.read('../../secret')).rejects.toMatchObject({ status: 404 });
    await expect(board.progress.change('../../secret', () => 'x')).rejects.toMatchObject({ status: 404 });
  });
});
