import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { aPresetsFile } from '../../services/workflow-runs/commands-under-test';
import { persistentCalls } from '../../services/workflow-runs/persistent-calls';
import { callerSettings } from '../../services/workflow-runs/service-under-test';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

const graph = 'digraph { start -> a -> exit; a [type=command, command="sh -c \'echo a >> order\'"] }';
const noted = (name: string): string[] => ['sh', '-c', `echo ${name} >> order`];
/** Waits for a file, and notes that it has begun and ended. */
const waiting = (name: string): string[] => [
  'sh',
  '-c',
  `echo begun >> ${name}; until test -e go-${name}; do sleep 0.05; done; echo ${name} >> order`,
];
const hooks = [
  { event: 'run_start', command: noted('first') },
  { event: 'run_start', command: waiting('second') },
  { event: 'stage_start', command: noted('third') },
  { event: 'stage_complete', command: waiting('fourth') },
  { event: 'run_complete', command: waiting('fifth') },
];

describe('hooks of workflow runs after kills', () => {
  test('each that has ended is not run again, and the run continues behind it', async () => {
    const file = await aPresetsFile();
    let service: Service | undefined;
    try {
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', ...callerSettings, ...file.settings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const call = persistentCalls<{ id: string; status: string }>(running);
      const { id } = await call('/runs', { dot_source: graph, hooks });
      const workspace = join(running.dataDir, 'workflow-runs', 'workspaces', id);
      const linesOf = async (name: string): Promise<string[]> =>
        (await readFile(join(workspace, name), 'utf8')).trim().split('\n');
      for (const name of ['second', 'fourth', 'fifth']) {
        await eventually(async () => expect(await linesOf(name)).toHaveLength(1), { withinMs: 60_000 });
        killPart(running, 'workflow-runs');
        await eventually(async () => expect(await linesOf(name)).toHaveLength(2), { withinMs: 90_000 });
        await writeFile(join(workspace, `go-${name}`), '');
      }
      await eventually(async () => expect(await call(`/runs/${id}`)).toMatchObject({ status: 'completed' }), {
        withinMs: 60_000,
      });
      expect(await linesOf('order')).toEqual(['first', 'second', 'third', 'a', 'fourth', 'fifth']);
    } finally {
      await service?.close();
      await file.close();
    }
  }, 400_000);
});
