import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepWorkspaces } from '../../../../services/workflow-runs/commands/sweep';
import { runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { aPresetsFile } from '../commands-under-test';
import { runClient } from '../run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';
import { openStoredRuns } from '../stored-runs';

let service: WorkflowRunsUnderTest;
let file: Awaited<ReturnType<typeof aPresetsFile>>;
beforeAll(async () => {
  file = await aPresetsFile();
  service = await startServiceUnderTest({ ...file.settings, WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '100' });
});
afterAll(async () => {
  await service.close();
  await file.close();
});
const { start, get, untilStatus } = runClient(() => service);

describe('the workspace of a run', () => {
  it('stays the same when the run continues as new, with every command run once', async () => {
    const id = await start(`digraph { start -> c; c -> c [condition="c_output < 25", weight=1]; c -> exit
      c [type=command, command="sh -c 'echo x >> lines; wc -l < lines'"] }`);
    await untilStatus(id, 'completed');
    expect(await get(`/runs/${id}/context`)).toMatchObject({ c_output: '25' });
    const { count } = await service.temporal.client.workflow.count(`WorkflowId = "${runWorkflowId(id)}"`);
    expect(count).toBeGreaterThan(1);
    const { data } = await get(`/runs/${id}/stages?page[limit]=100`);
    expect(data.filter(({ kind }: { kind: string }) => kind === 'command')).toHaveLength(25);
  });

  it('is removed some time after the end of its run, and so is one without a run', async () => {
    const ended = await start('digraph { start -> c -> exit; c [type=command, command="touch x"] }');
    await untilStatus(ended, 'completed');
    const open = await start(
      'digraph { start -> c -> ask -> exit; c [type=command, command="touch x"]; ask [shape=hexagon] }',
    );
    await untilStatus(open, 'running');
    const directory = join(service.dataDir, 'workflow-runs', 'workspaces');
    await mkdir(join(directory, '01ARZ3NDEKTSV4RRFFQ69G5FAV'), { recursive: true });
    await mkdir(join(directory, open), { recursive: true });
    const { runs, database } = await openStoredRuns(service);
    try {
      const retentionMs = 60_000;
      const endUse = () => Promise.resolve();
      await sweepWorkspaces({ directory, retentionMs, runs, endUse, now: () => new Date() });
      expect(await readdir(directory)).toEqual(expect.arrayContaining([ended, open]));
      expect(await readdir(directory)).not.toContain('01ARZ3NDEKTSV4RRFFQ69G5FAV');
      await sweepWorkspaces({
        directory,
        retentionMs,
        runs,
        endUse,
        now: () => new Date(Date.now() + 2 * retentionMs),
      });
      expect(await readdir(directory)).toEqual([open]);
    } finally {
      await database.close();
    }
    await service.call('POST', `/runs/${open}/cancel`, {});
  });
});
