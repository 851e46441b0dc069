import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { DiffHunk } from '../../../../contracts/runs/diff';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { parseHunks, wholeFile } from '../../../../providers/git/diff/hunks';
import { programOutput } from '../../../support/processes/program-output';

let dir: TempDir;
beforeAll(async () => {
  dir = await makeTempDir('hunks');
});
afterAll(() => dir.remove());

/** The new text of a file: its old one with the hunks of a diff applied. */
function applyHunks(old: string, hunks: readonly DiffHunk[]): string {
  const before = old.split('\n');
  const after: string[] = [];
  let at = 0;
  let endsOpen = false;
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    const start = oldLines === 0 ? oldStart : oldStart - 1;
    after.push(...before.slice(at, start));
    expect(after.length).toBe(newLines === 0 ? newStart : newStart - 1);
    for (const { type, content, oldNumber, newNumber, noNewline } of lines) {
      if (type !== 'add') {
        expect(before[(oldNumber ?? 0) - 1]).toBe(content);
      }
      if (type !== 'delete') {
        after.push(content);
        expect(newNumber).toBe(after.length);
        endsOpen = noNewline === true;
      }
    }
    at = start + oldLines;
  }
  const rest = before.slice(at);
  return rest.length > 0 && !(rest.length === 1 && rest[0] === '')
    ? [...after, ...rest].join('\n')
    : after.join('\n') + (endsOpen || after.length === 0 ? '' : '\n');
}

/** Lines that look like parts of a patch, and others. */
const line = fc.oneof(
  fc.constantFrom('', 'a', 'b', '+a', '-a', ' a', '@@ -1 +1 @@', '\\ No newline at end of file', '--- a', 'a\r'),
  fc.string({ maxLength: 8 }).map((text) => text.replace(/[\n\0]/g, '')),
);
const content = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ended]) => (lines.length === 0 ? '' : lines.join('\n') + (ended ? '\n' : '')));

describe('the hunks of a patch', () => {
  it('give the new file when they are applied to the old one', async () => {
    const [before, after] = [join(dir.path, 'before'), join(dir.path, 'after')];
    const options = ['diff', '--no-index', '--text', '--no-color', '--unified=3', 'before', 'after'];
    await fc.assert(
      fc.asyncProperty(content, content, async (old, changed) => {
        await writeFile(before, old);
        await writeFile(after, changed);
        const args = ['-c', `git "$@"; test $? -le 1`, 'git', ...options];
        const patch = await programOutput({ file: 'sh', args, cwd: dir.path, env: { PATH: process.env.PATH } });
        expect(applyHunks(old, parseHunks(patch))).toBe(changed);
      }),
      { numRuns: 60 },
    );
  });

  it('of a file that is new or gone have all of its lines', () => {
    fc.assert(
      fc.property(content, (text) => {
        expect(applyHunks('', wholeFile(text, 'add'))).toBe(text);
        expect(applyHunks(text, wholeFile(text, 'delete'))).toBe('');
      }),
    );
  });
});
