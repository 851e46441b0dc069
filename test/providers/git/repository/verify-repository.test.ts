import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import type { GitError } from '../../../../providers/git/git-error';
import { verifyRepository } from '../../../../providers/git/repository/verify-repository';

describe('verifying where git would write', () => {
  let directory: TempDir;
  let commonDir: string;

  beforeEach(async () => {
    directory = await makeTempDir('verified');
    commonDir = join(directory.path, '.git');
    await mkdir(join(commonDir, 'refs', 'heads'), { recursive: true });
    await mkdir(join(commonDir, 'objects'));
  });
  afterEach(() => directory.remove());

  const verify = () => verifyRepository({ commonDir, gitDir: commonDir });

  it('accepts directories that are not there', () => {
    expect(verify).not.toThrow();
  });

  it('accepts a repository in which a file has the name of a directory', async () => {
    await writeFile(join(commonDir, 'logs'), '');
    await rm(join(commonDir, 'refs', 'heads'), { recursive: true });
    await writeFile(join(commonDir, 'refs', 'heads'), '');
    expect(verify).not.toThrow();
  });

  it('refuses a link to a directory, however deep', async () => {
    await mkdir(join(commonDir, 'refs', 'heads', 'a', 'b'), { recursive: true });
    await symlink(directory.path, join(commonDir, 'refs', 'heads', 'a', 'b', 'c'));
    expect(verify).toThrow(expect.objectContaining<Partial<GitError>>({ code: 'repository-diverted' }));
  });
});
