import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { aPresetsFile } from '../../services/workflow-runs/commands-under-test';
import { persistentCalls } from '../../services/workflow-runs/persistent-calls';
import { callerSettings } from '../../services/workflow-runs/service-under-test';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

/** The middle command waits for a file, and counts how often it was begun and ended. */
const graph = `digraph { start -> before -> middle -> after -> exit
  before [type=command, command="sh -c 'echo x >> before'"]
  middle [type=command, command="sh -c 'echo x >> begun; until test -e go; do sleep 0.05; done; echo x >> ended'"]
  after [type=command, command="sh -c 'wc -l < ended'"] }`;

describe('commands of workflow runs after a kill', () => {
  test('what has ended is not run again, what was under way ends with the service and is', async () => {
    const file = await aPresetsFile();
    let service: Service | undefined;
    try {
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', ...callerSettings, ...file.settings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const call = persistentCalls<{ id: string; status: string }>(running);
      const { id } = await call('/runs', { dot_source: graph });
      const workspace = join(running.dataDir, 'workflow-runs', 'workspaces', id);
      const linesOf = async (name: string): Promise<number> =>
        (await readFile(join(workspace, name), 'utf8')).trim().split('\n').length;
      await eventually(async () => expect(await linesOf('begun')).toBe(1));
      killPart(running, 'workflow-runs');
      await eventually(async () => expect(await linesOf('begun')).toBe(2), { withinMs: 90_000 });
      // Of two that wait one would remain of the service that was killed; a shell that starts sleep counts twice for a moment.
      await eventually(async () => expect(await countWaiting()).toBe(1));
      await writeFile(join(workspace, 'go'), '');
      await eventually(async () => expect(await call(`/runs/${id}`)).toMatchObject({ status: 'completed' }), {
        withinMs: 60_000,
      });
      expect(await linesOf('before')).toBe(1);
      expect(await linesOf('ended')).toBe(1);
      expect(await call(`/runs/${id}/context`)).toMatchObject({ after_output: '1' });
    } finally {
      await service?.close();
      await file.close();
    }
  }, 240_000);
});

/** How many shells run the command that waits. */
async function countWaiting(): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  const isWaiting = ([program = '', option, script = '']: string[]): boolean =>
    program.endsWith('/sh') && option === '-c' && script.startsWith('echo x >> begun');
  return lines.filter((line) => isWaiting(line.split('\u0000'))).length;
}
