import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLog } from '../../../platform/log/log';
import { findTemporalBinary } from '../../../platform/temporal/embedded/binary';
import { startDevServer } from '../../../platform/temporal/embedded/dev-server';
import { makeTempDir } from '../../../platform/testing/temp-dir';

const run = promisify(execFile);

/** Runs the script on a disk in memory that this test alone has. @throws Error where users may not mount one */
async function onSmallDisk(script: string, size: string, ...args: string[]): Promise<unknown> {
  const directory = await makeTempDir('full-disk');
  const disk = join(directory.path, 'disk');
  await mkdir(disk);
  const node = `exec '${process.execPath}' -r ./test/support/register-ts.cjs test/stores/full-disk/${script}.ts '${disk}' ${args.join(' ')}`;
  try {
    const mounted = `mount -t tmpfs -o size=${size} tmpfs '${disk}' && ${node}`;
    const { stdout } = await run('unshare', ['-Urm', 'sh', '-c', mounted], { timeout: 240_000 });
    return JSON.parse(stdout) as unknown;
  } finally {
    await directory.remove();
  }
}

describe('full disk', () => {
  it('a full disk is named, leaves nothing half-written, and an agent that ends meanwhile is recorded as it ended', async () => {
    expect(await onSmallDisk('on-small-disk', '2m')).toEqual({
      failures: {
        create: 'the task files',
        update: 'the task files',
        blob: 'attachments and artifacts',
        record: 'StoreFullError: There is no space left in the embedded database.',
      },
      left: [],
      unchanged: true,
      exit: { exitCode: 7, signal: null },
      output: { rest: 'said while full', dropped: 'nothing' },
      after: { create: 'none', record: 'none' },
      log: { unwritten: true, kept: ['long', 'while full', 'the disk of the log was full'], all: 303 },
    });
  });

  it('a worker that starts on a full disk waits for space, and one whose disk fills continues', async () => {
    const directory = await makeTempDir('full-disk-temporal');
    const binary = await findTemporalBinary({ report: () => undefined });
    const log = createLog({ name: 'test', level: 'silent' });
    const server = await startDevServer({
      binary,
      dbFile: join(directory.path, 'temporal.db'),
      namespace: 'default',
      log,
    });
    try {
      expect(await onSmallDisk('worker-on-small-disk', '16m', server.address)).toEqual({
        waited: true,
        spaceMessages: ['disk full, waiting for space', 'disk space available again', 'worker started'],
        unwritten: true,
        survived: true,
        goesOn: true,
      });
    } finally {
      await server.stop();
      await directory.remove();
    }
  });

  it('runs continue across a disk that is full for everything, and end as their agents did', async () => {
    const elsewhere = await makeTempDir('full-disk-agents');
    const ended = (status: string, exitCode: number, task: string, last: string, summary: string) => ({
      completion: [status, summary, exitCode],
      task,
      last,
      lines: 200,
    });
    try {
      expect(await onSmallDisk('service-on-small-disk', '64m', elsewhere.path)).toEqual({
        full: ['Temporal', 'the task files', 'the embedded database'],
        ready: 503,
        running: ['running', 'running', 'running'],
        ends: {
          plain: ended('success', 0, 'done', 'run.completed', 'plain ended'),
          held: ended('success', 0, 'done', 'run.completed', 'held ended'),
          'held-failing': ended('failed', 1, 'in-progress', 'run.failed', 'held-failing ended'),
        },
        survived: ['temporal', 'worker', 'api'],
        created: 201,
      });
    } finally {
      await elsewhere.remove();
    }
  });

  it('the service that is started on a full disk waits for space and reports it, and its api starts without where it can', async () => {
    const spaceMessages = ['disk full, waiting for space', 'disk space available again'];
    expect(await onSmallDisk('start-on-small-disk', '64m')).toEqual({
      waited: true,
      exited: [0],
      spaceMessages: [spaceMessages, spaceMessages],
      startedWhileFull: [200, 507],
    });
  });
});
