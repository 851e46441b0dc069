import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeTempDir } from '../../../platform/testing/temp-dir';

const run = promisify(execFile);

/** Runs the script on a disk in memory that this test alone has. @throws Error where users may not mount one */
async function onSmallDisk(): Promise<unknown> {
  const directory = await makeTempDir('full-disk');
  const disk = join(directory.path, 'disk');
  await mkdir(disk);
  const node = `'${process.execPath}' -r ./test/support/register-ts.cjs test/stores/full-disk/on-small-disk.ts '${disk}'`;
  try {
    const mounted = `mount -t tmpfs -o size=2m tmpfs '${disk}' && ${node}`;
    const { stdout } = await run('unshare', ['-Urm', 'sh', '-c', mounted], { timeout: 60_000 });
    return JSON.parse(stdout) as unknown;
  } finally {
    await directory.remove();
  }
}

it('a full disk is named, leaves nothing half-written, and an agent that ends meanwhile is recorded as it ended', async () => {
  expect(await onSmallDisk()).toEqual({
    failures: {
      create: 'the task files',
      update: 'the task files',
      blob: 'attachments and artifacts',
      record: 'StoreFullError: There is no space left in the embedded database.',
    },
    left: [],
    unchanged: true,
    exit: { exitCode: 7, signal: null },
    after: { create: 'none', record: 'none' },
  });
});
