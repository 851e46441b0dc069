import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimPort } from '../../platform/processes/parts/claim-port';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type RunningService, startAll } from '../../scripts/start-all';
import { Caller, scriptAgent } from '../support/caller';
import { aRepository } from '../support/git/repository';
import { testSettings } from '../support/settings';

describe('the metrics of a worker', () => {
  let directory: TempDir;
  let service: RunningService;
  let address: string;
  beforeAll(async () => {
    directory = await makeTempDir('worker-metrics');
    address = `127.0.0.1:${await claimPort(0, 'test')}`;
    service = await startAll({
      environment: {
        ...{ PATH: process.env.PATH, HOME: process.env.HOME },
        ...testSettings,
        BOARD_WORKER_METRICS_ADDRESS: address,
      },
      dataDir: join(directory.path, 'data'),
      ports: { api: 0 },
      quiet: true,
    });
  });
  afterAll(async () => {
    await service.stop();
    await directory.remove();
  });

  it('have those of the SDK, and count the ends of runs', async () => {
    const call = new Caller(service.apiUrl);
    await call.addRepository('shop', await aRepository(directory.path, 'shop'));
    await call.configureAgents([scriptAgent('worker-bee')]);
    const { id } = await call.createTask({ title: 'Measured', git: { repo: 'shop' } });
    await call.start(id);
    await call.ended(id);
    await eventually(async () => {
      const metrics = await (await fetch(`http://${address}/metrics`)).text();
      expect(metrics).toMatch(/^temporal_activity_execution_latency_seconds_count\{/m);
      expect(metrics).toMatch(
        /^runboard_runs_ended_total\{[^}]*agent="worker-bee"[^}]*outcome="(success|partial)"[^}]*\} 1$/m,
      );
      expect(metrics).toMatch(/^runboard_run_duration_seconds_count\{/m);
    });
  });

  it.each(['grafana/runboard.json', 'prometheus/alerts.yml', 'prometheus/rules.yml'])(
    'and those of the api are all that deploy/%s reads',
    async (file) => {
      const text = await readFile(join(__dirname, '../../deploy', file), 'utf8');
      const read = [...text.matchAll(/\b(?:runboard|http_server|nodejs|process|temporal)_[a-z_]+\b/g)];
      expect(read.length).toBeGreaterThan(0);
      const pages = [`${service.apiUrl}/metrics`, `http://${address}/metrics`];
      const metrics = (await Promise.all(pages.map(async (url) => (await fetch(url)).text()))).join('\n');
      const served = new Set([...metrics.matchAll(/^([a-z_]+)(?=[{ ])/gm)].map(([, name]) => name));
      expect([...new Set(read.map(([name]) => name))].filter((name) => !served.has(name))).toEqual([]);
    },
  );
});
