import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { aPresetsFile } from '../../services/workflow-runs/commands-under-test';
import { persistentCalls } from '../../services/workflow-runs/persistent-calls';
import { callerSettings } from '../../services/workflow-runs/service-under-test';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

/** Git that stands still once in the middle of a checkout and of a commit, with the locks that it has then. */
const standingStill = (directory: string, git: string): string => `#!/bin/sh
for each; do
  case $each in
    checkout-index) if mkdir ${directory}/checkout 2>/dev/null; then touch "$GIT_INDEX_FILE.lock"; echo o > a.txt; exec sleep 5801; fi ;;
    fast-import) if mkdir ${directory}/commit 2>/dev/null; then touch refs/heads/run.lock snapshot-index.lock; exec sleep 5801; fi ;;
  esac
done
exec ${git} "$@"
`;

describe('a workflow run with a repository', () => {
  test('has the files of its base and every commit, when its service and git are killed in the middle of each', async () => {
    const directory = await makeTempDir('repository-killed');
    const file = await aPresetsFile();
    let service: Service | undefined;
    try {
      const app = join(directory.path, 'app');
      await mkdir(app);
      const git = String(execFileSync('sh', ['-c', 'command -v git'])).trim();
      const inApp = (...args: string[]): void =>
        void execFileSync(git, ['-C', app, '-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args]);
      inApp('init', '--quiet', '--initial-branch=main');
      await writeFile(join(app, 'a.txt'), 'one\n');
      inApp('add', '-A');
      inApp('commit', '--quiet', '-m', 'First');
      await writeFile(join(directory.path, 'git'), standingStill(directory.path, git));
      await chmod(join(directory.path, 'git'), 0o755);
      service = await startService(
        {
          ...{ WORKFLOW_RUNS_PORT: '0', WORKFLOW_RUNS_REPOSITORIES: `app=${app}` },
          ...{ ...callerSettings, ...file.settings, PATH: `${directory.path}:${process.env.PATH ?? ''}` },
        },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const call = persistentCalls<Record<string, unknown> & { id: string; data: unknown[] }>(running);
      const dot_source = `digraph { start -> a -> exit; a [type=command, command="sh -c 'cat a.txt; echo two >> a.txt'"] }`;
      const { id } = await call('/runs', { dot_source, repository: { name: 'app' } });
      for (const place of ['checkout', 'commit']) {
        await eventually(async () => {
          expect(existsSync(join(directory.path, place))).toBe(true);
          expect(await standing()).toHaveLength(1);
        });
        killPart(running, 'workflow-runs');
        (await standing()).forEach((pid) => process.kill(pid, 'SIGKILL'));
      }
      await eventually(async () => expect(await call(`/runs/${id}`)).toMatchObject({ status: 'completed' }), {
        withinMs: 120_000,
      });
      const { data } = await call(`/runs/${id}/files`);
      // The command had ended before its commit, and was not run again.
      expect(data).toEqual([
        {
          old_file: { name: 'a.txt', contents: 'one\n' },
          new_file: { name: 'a.txt', contents: 'one\ntwo\n' },
        },
      ]);
    } finally {
      await service?.close();
      (await standing()).forEach((pid) => process.kill(pid, 'SIGKILL'));
      await file.close();
      await directory.remove();
    }
  }, 300_000);
});

/** The processes that stand still. */
async function standing(): Promise<number[]> {
  const found: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line === 'sleep\u00005801\u0000') {
      found.push(Number(pid));
    }
  }
  return found;
}
