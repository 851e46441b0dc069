import { execFileSync } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactLimits } from '../../../contracts/runs/output';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type CaptureFile, createCaptureFile } from '../../../providers/agents/capture-file';

let directory: TempDir;
let worktree: string;
let capture: CaptureFile;

beforeAll(async () => {
  directory = await makeTempDir('capture');
  worktree = join(directory.path, 'worktree');
  await mkdir(join(worktree, 'out'), { recursive: true });
  capture = createCaptureFile({ worktreePath: worktree }, ['hidden-välue']);
});
afterAll(() => directory.remove());

const write = (name: string, content: string | Buffer) => writeFile(join(worktree, name), content);

describe('capturing a file', () => {
  it('reads it without its secrets', async () => {
    await write('out/report.md', 'é hidden-välue, API_KEY=0123456789abc');
    expect(await capture({ path: 'out/report.md', kind: 'report' })).toMatchObject({
      name: 'out/report.md',
      kind: 'report',
      mediaType: 'text/plain; charset=utf-8',
      body: Buffer.from('é [REDACTED], API_KEY=[REDACTED]'),
      originalBytes: Buffer.byteLength('é hidden-välue, API_KEY=0123456789abc'),
    });
    expect(await capture({ path: join(worktree, 'out/report.md'), kind: 'poem' })).toMatchObject({ kind: 'other' });
  });

  it('reports text from JSON and from bytes, in which secrets are hidden too', async () => {
    await write('a.json', '{"a": 1}');
    await write('a.bin', Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from('hidden-välue'), Buffer.from([7])]));
    await write('latin1.txt', Buffer.from([0xe9, 0x20, 0x41]));
    expect(await capture({ path: 'a.json' })).toMatchObject({ mediaType: 'application/json', kind: 'file' });
    expect(await capture({ path: 'a.bin' })).toMatchObject({
      mediaType: 'application/octet-stream',
      body: Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from('[REDACTED]'), Buffer.from([7])]),
    });
    expect(await capture({ path: 'latin1.txt' })).toMatchObject({ mediaType: 'application/octet-stream' });
  });

  it('stays inside the worktree', async () => {
    await writeFile(join(directory.path, 'outside.txt'), 'outside');
    await symlink(join(directory.path, 'outside.txt'), join(worktree, 'link.txt'));
    await symlink(directory.path, join(worktree, 'up'));
    await mkdir(join(worktree, '.git'), { recursive: true });
    await write('.git/config', 'x');
    const problems: [string, RegExp][] = [
      ['../outside.txt', /outside/],
      ['/etc/passwd', /outside/],
      ['link.txt', /symbolic link/],
      ['up/outside.txt', /outside/],
      ['up/worktree/../outside.txt', /outside/],
      ['.git/config', /git/],
      ['.', /outside/],
      ['out', /regular file/],
      ['nothing.txt', /does not exist/],
      ['out/report.md/x', /does not exist/],
      ['a\0b', /path is invalid/],
      ['', /path is invalid/],
    ];
    for (const [path, problem] of problems) {
      expect(await capture({ path })).toEqual({ problem: expect.stringMatching(problem) });
    }
    // What a link leads to counts, not that there is one.
    await symlink(join(worktree, 'out'), join(worktree, 'inner'));
    expect(await capture({ path: 'inner/report.md' })).toMatchObject({ name: 'out/report.md' });
  });

  it('does not wait for a writer and takes no more than it may', async () => {
    execFileSync('mkfifo', [join(worktree, 'pipe')]);
    expect(await capture({ path: 'pipe' })).toEqual({ problem: expect.stringMatching(/regular file/) });
    await write('large', '');
    await truncate(join(worktree, 'large'), artifactLimits.fileBytes + 1);
    expect(await capture({ path: 'large' })).toEqual({ problem: expect.stringMatching(/the limit is/) });
  });
});
