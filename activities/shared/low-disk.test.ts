import { tmpdir } from 'node:os';
import { lowDisk } from './low-disk';

describe('low disk warning', () => {
  test('a disk with enough space left is no finding', async () => {
    expect(await lowDisk({ directory: tmpdir(), hostId: 'host-1', minFreeMb: 0 })()).toEqual([]);
  });
});
