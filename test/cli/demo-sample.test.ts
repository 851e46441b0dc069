import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { createRepository, git } from '../../scripts/demo/sample';

describe('the sample of the demo', () => {
  it('is committed whatever the git configuration of the user makes of commits', async () => {
    const home = await makeTempDir('demo-home');
    try {
      const hook = join(home.path, 'pre-commit');
      await writeFile(hook, '#!/bin/sh\nexit 1\n');
      await chmod(hook, 0o700);
      const settings = `[core]\n\thooksPath = ${home.path}\n[commit]\n\tgpgSign = true\n[user]\n\tsigningKey = none\n`;
      process.env.GIT_CONFIG_GLOBAL = join(home.path, 'settings');
      await writeFile(process.env.GIT_CONFIG_GLOBAL, settings);
      const repository = join(home.path, 'shop');
      await createRepository(repository);
      expect(await git(repository, 'log', '--format=%an: %s', 'main')).toBe('Runboard demo: Open the shop');
    } finally {
      await home.remove();
    }
  });
});
