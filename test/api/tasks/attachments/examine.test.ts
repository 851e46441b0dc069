import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createExamine } from '../../../../api/tasks/attachments/content/examine';
import { startLimited } from '../../../../api/tasks/attachments/content/limited-process';
import { FileRefused } from '../../../../api/tasks/attachments/content/refused';
import { makeTempDir } from '../../../../platform/testing/temp-dir';
import { deflatedPdf, mebibyte } from './bombs';

const file = { path: '/nowhere', extension: 'txt', maxTextLength: 100 };
const program = (code: string) => () =>
  spawn(process.execPath, ['--max-old-space-size=32', '-e', code], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  });
const accepted = "process.send({ kind: 'accepted', mimeType: 'text/plain' });";
const forEver = 'for (;;);';
const allMemory = 'const all = []; for (;;) all.push(new Array(10_000).fill(0).map(String));';

describe('attachment inspection', () => {
  it.each([
    ['takes for ever', forEver],
    ['takes all memory', allMemory],
    ['fails', 'throw new Error("a parser failed")'],
    ['has no text', ''],
  ])('a file whose examination %s is refused', async (_case, code) => {
    const examine = createExamine({ withinMs: 1_500, startProcess: program(code) });
    await expect(examine(file, 'jo')).rejects.toThrow(FileRefused);
  });

  it.each([
    ['takes for ever', 'limit', forEver],
    ['takes all memory', 'limit', allMemory],
    ['fails', 'unreadable', 'setTimeout(() => { throw new Error("a parser failed") })'],
  ])('a file whose text %s has none, with why', async (_case, problem, code) => {
    const examine = createExamine({ withinMs: 1_500, startProcess: program(accepted + code) });
    expect(await examine(file, 'jo')).toEqual({ mimeType: 'text/plain', text: undefined, problem });
  });

  it('examines so many files of different callers at a time, and at one of each', async () => {
    let now = 0;
    let most = 0;
    const examine = createExamine({
      processes: 2,
      startProcess: () => {
        most = Math.max(most, (now += 1));
        return program(`${accepted}process.disconnect()`)().once('exit', () => (now -= 1));
      },
    });
    await Promise.all(Array.from({ length: 3 }, () => examine(file, 'jo')));
    expect(most).toBe(1);
    await Promise.all(Array.from({ length: 6 }, (_, index) => examine(file, `caller ${index}`)));
    expect(most).toBe(2);
  });

  it('gives a PDF of a kilobyte no more memory than any other', async () => {
    const dir = await makeTempDir('bomb');
    try {
      const path = join(dir.path, 'bomb.pdf');
      const bomb = deflatedPdf(512);
      expect(bomb.length).toBeLessThan(2_000);
      writeFileSync(path, bomb);
      let peakKilobytes = 0;
      const examine = createExamine({
        startProcess: (look) => {
          const child = startLimited(look);
          const timer = setInterval(() => {
            peakKilobytes = Math.max(peakKilobytes, peakOf(child.pid ?? 0));
          }, 10);
          return child.once('exit', () => clearInterval(timer));
        },
      });
      const { mimeType, text, problem } = await examine({ path, extension: 'pdf', maxTextLength: 200_000 }, 'jo');
      expect({ mimeType, text, problem }).toEqual({ mimeType: 'application/pdf', text: undefined, problem: 'limit' });
      expect(peakKilobytes * 1_024).toBeGreaterThan(10 * mebibyte);
      expect(peakKilobytes * 1_024).toBeLessThan(480 * mebibyte);
    } finally {
      await dir.remove();
    }
  }, 30_000);

  /** The most memory a process had, in kilobytes, as the system reports it. */
  function peakOf(pid: number): number {
    try {
      return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  }
});
