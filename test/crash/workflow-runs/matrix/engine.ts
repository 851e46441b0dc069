import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { aPresetsFile } from '../../../services/workflow-runs/commands-under-test';
import { persistentCalls } from '../../../services/workflow-runs/persistent-calls';
import { callerSettings } from '../../../services/workflow-runs/service-under-test';
import { scriptAgent } from '../../../support/caller';
import { ledgerProgram } from '../../../support/factories/tool-server';
import { aRepository } from '../../../support/git/repository';
import { killPart, type Service, soonAgain, startService } from '../../../support/stack/service';
import { type Stack, startStack } from '../../../support/stack/stack';
import { aModelServer, type ModelServer } from './model-server';

export interface Answer {
  id: string;
  status: string;
  data: Record<string, unknown>[];
  [field: string]: unknown;
}

/** The workflow-run service as a process, with a board, a server of models and a ledger that shows what was done twice. */
export interface Engine {
  service: Service;
  board: Stack;
  models: ModelServer;
  /** Calls the service until it answers. */
  call: (path: string, body?: unknown) => Promise<Answer>;
  start: (dot: string) => Promise<string>;
  /** All stages of a run. */
  stages: (id: string) => Promise<Record<string, unknown>[]>;
  /** How often the ledger has a line. */
  written: (line: string) => number;
  workspace: (id: string) => string;
  /** Lets models and tools answer that are held. */
  open: () => void;
  kill: (part: KilledPart) => Promise<void>;
  close: () => Promise<void>;
}
export type KilledPart = 'workflow-runs' | 'temporal' | 'model server';

export async function startEngine(): Promise<Engine> {
  const files: TempDir = await makeTempDir('crash-matrix');
  const ledger = join(files.path, 'ledger');
  const models = await aModelServer(files.path);
  const presets = await aPresetsFile();
  const board = await startStack();
  await board.call.ok('POST', '/api/tool-servers', {
    ...{ id: 'ledger', displayName: 'Ledger', transport: ledgerProgram(ledger) },
  });
  await board.call.addRepository('sample', await aRepository(board.dir));
  await board.call.configureAgents([scriptAgent('worker-bee', '20', '200')]);
  const limits = { WORKFLOW_RUNS_CONCURRENCY: '50', RATE_LIMIT_ENABLED: 'false', WORKFLOW_RUNS_PORT: '0' };
  const service = await startService(
    { WORKFLOW_RUNS_BOARD_URL: board.url, ...limits, ...callerSettings, ...models.settings, ...presets.settings },
    { services: ['workflow-runs'], restart: soonAgain },
  );

  const call = persistentCalls<Answer>(service);

  return {
    ...{ service, board, models, call },
    async start(dot) {
      const { id, ...refused } = await call('/runs', { dot_source: dot });
      expect(refused).not.toHaveProperty('errors');
      return id;
    },
    async stages(id) {
      const read: Record<string, unknown>[] = [];
      for (let hasMore = true; hasMore;) {
        const page = await call(`/runs/${id}/stages?page[limit]=100&page[offset]=${read.length}`);
        read.push(...page.data);
        hasMore = (page.meta as { has_more: boolean }).has_more;
      }
      return read;
    },
    written: (line) =>
      existsSync(ledger)
        ? readFileSync(ledger, 'utf8')
            .split('\n')
            .filter((each) => each === line).length
        : 0,
    workspace: (id) => join(service.dataDir, 'workflow-runs', 'workspaces', id),
    open() {
      writeFileSync(join(files.path, 'open'), '');
      writeFileSync(`${ledger}.open`, '');
    },
    async kill(part) {
      if (part === 'model server') {
        await models.killAndStart();
      } else {
        killPart(service, part);
      }
    },
    async close() {
      await service.close();
      await board.close();
      await models.close();
      await presets.close();
      await files.remove();
    },
  };
}
