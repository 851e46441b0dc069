import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { makeTempDir, type TempDir } from '../testing/temp-dir';
import { findCommand } from './find-command';

let files: TempDir;
beforeEach(async () => {
  files = await makeTempDir('find-command');
});
afterEach(() => files.remove());

/** A program of a directory below the files of the test. */
function aProgram(directory: string, { mode = 0o755 } = {}): string {
  const path = join(files.path, directory, 'bee');
  mkdirSync(join(files.path, directory));
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, mode);
  return path;
}
const directories = (...names: string[]): string => names.map((name) => join(files.path, name)).join(delimiter);

describe('the search for the program of a command', () => {
  it('finds the first executable file of the name', () => {
    mkdirSync(join(files.path, 'directory', 'bee'), { recursive: true });
    aProgram('text', { mode: 0o644 });
    const path = aProgram('first');
    aProgram('second');
    expect(findCommand('bee', directories('absent', 'directory', 'text', 'first', 'second'))).toEqual({ path });
    expect(findCommand(path, '')).toEqual({ path });
  });

  it('searches no directory that depends on the working directory', () => {
    const path = aProgram('bin');
    expect(findCommand('bee', ['', '.', relative(process.cwd(), join(path, '..'))].join(delimiter))).toMatchObject({
      problem: expect.stringContaining('not found'),
      searched: [],
    });
    expect(findCommand('bin/bee', files.path)).toHaveProperty('problem');
  });
});
