import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { aPresetsFile } from '../../services/workflow-runs/commands-under-test';
import { persistentCalls } from '../../services/workflow-runs/persistent-calls';
import { callerSettings } from '../../services/workflow-runs/service-under-test';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

describe('a preview of a workflow run after a kill', () => {
  test('leaves no process and no socket, is over, and another one can be started', async () => {
    const file = await aPresetsFile();
    let service: Service | undefined;
    try {
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', WORKFLOW_RUNS_PREVIEW_PORT: '0', ...callerSettings, ...file.settings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const call = persistentCalls<Record<string, unknown> & { id: string }>(running);
      const dot_source = 'digraph { start -> a -> exit; a [type=command, command="ls"] }';
      const { id } = await call('/runs', { dot_source });
      await eventually(async () => expect(await call(`/runs/${id}`)).toMatchObject({ status: 'completed' }));
      const input = {
        ...{ port: 8000, expires_in_secs: 600 },
        command: ['sh', '-c', 'setsid sleep 5601 & exec sleep 5602'],
      };
      const preview = await call(`/runs/${id}/preview`, input);
      expect(preview).toMatchObject({ url: expect.stringContaining('.localhost:') });
      await eventually(async () => expect(await countOf(/^sleep\u0000560[12]\u0000/)).toBe(2));
      killPart(running, 'workflow-runs');
      await eventually(async () => expect(await countOf(/\u0000560[12]\u0000|exec sleep 5602/)).toBe(0), {
        withinMs: 30_000,
      });
      await eventually(
        async () =>
          expect(await call(`/runs/${id}/previews/${preview.id}`)).toMatchObject({
            ...{ status: 'ended', end: 'service-ended' },
          }),
        { withinMs: 90_000 },
      );
      const sandbox = await readdir(join(running.dataDir, 'workflow-runs', 'sandbox'));
      expect(sandbox.filter((name) => name.endsWith('.serve'))).toEqual([]);
      expect(await call(`/runs/${id}/preview`, input)).toMatchObject({ url: expect.any(String) });
    } finally {
      await service?.close();
      await file.close();
    }
    await eventually(async () => expect(await countOf(/^sleep\u0000560[12]\u0000/)).toBe(0));
  }, 240_000);
});

/** How many processes have a command line like that. */
async function countOf(pattern: RegExp): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => pattern.test(line)).length;
}
