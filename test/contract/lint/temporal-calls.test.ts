import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** What lint reports of a file that has this code. */
function reportsOf(path: string, code: string): string[] {
  const output = execFileSync(process.execPath, [join(__dirname, 'restrictions.mjs')], {
    cwd: join(__dirname, '..', '..', '..'),
    input: JSON.stringify([{ path, code }]),
    encoding: 'utf8',
  });
  return (JSON.parse(output) as string[][]).flat();
}

describe('lint of calls to Temporal', () => {
  it.each([
    ['api/runs/launch/launch.ts', 'await client.workflow.start();'],
    ['worker/start.ts', 'client.schedule.list();'],
    ['activities/recovery/activities.ts', 'deps.client.workflow.getHandle("run").signal();'],
  ])('refuses them in %s', (path, code) => {
    expect(reportsOf(path, code)).toEqual([expect.stringContaining('workflows/<flow>/client.ts')]);
  });

  it('lets the client of a workflow make them', () => {
    expect(reportsOf('workflows/recovery/client.ts', 'client.workflow.start();')).toEqual([]);
  });
});
