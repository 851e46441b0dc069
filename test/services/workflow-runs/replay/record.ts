/**
 * Records histories of this service's workflows into `histories`, from the service as it is built now. Run before a change
 * to a workflow, so that the change can be replayed against them. Those that are there stay, of earlier versions; delete one to record it again:
 * `npm run build && node -r ./test/support/register-ts.cjs test/services/workflow-runs/replay/record.ts`
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { claimPort } from '../../../../platform/processes/parts/claim-port';
import { eventually } from '../../../../platform/testing/eventually';
import { aGate } from '../../../support/models/provider';
import { startService } from '../../../support/stack/service';
import { aPresetsFile } from '../commands-under-test';
import { readEvents } from '../events';
import { aProviderWithCatalog } from '../models-under-test';
import { callerSettings, tokenOf } from '../service-under-test';
import { recordHooked } from './hooked';
import { recordRuns } from './runs';
import { recordTools } from './tools';
import { recordTrees } from './trees';

const histories = join(__dirname, 'histories');

/** The last month of `services/workflow-runs/runs/changes.ts`: earlier histories have the names alone. */
const changesUntil = '2026-11';
const root = join(__dirname, '..', '..', '..', '..');

async function main(): Promise<void> {
  const models = await aProviderWithCatalog();
  const limits = { WORKFLOW_RUNS_CONCURRENCY: '1', WORKFLOW_RUNS_MAX_HISTORY_EVENTS: '150' };
  const presets = await aPresetsFile();
  const port = String(await claimPort(0, 'BOARD_PORT'));
  const board = { BOARD_PORT: port, WORKFLOW_RUNS_BOARD_URL: `http://127.0.0.1:${port}` };
  const settings = {
    ...{ WORKFLOW_RUNS_PORT: '0', ...limits, ...board },
    ...{ ...callerSettings, ...models.settings, ...presets.settings },
  };
  const service = await startService(settings, { services: ['workflow-runs'], ports: {} });
  const connection = await Connection.connect({ address: service.temporalAddress });
  const { workflow } = new Client({ connection });
  const call = (path: string, body?: unknown) =>
    fetch(`${service.serviceUrls['workflow-runs']}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const begin = async (content: string) => (await (await call('/sessions', { content })).json()) as { id: string };
  const until = async (id: string, name: string) =>
    readEvents(await call(`/sessions/${id}/events`), ({ event }) => event === name);

  /** Writes the histories of the workflows of a session, the oldest first. */
  const keep = (id: string, ...names: string[]) => keepEach(`WorkflowId STARTS_WITH "session/${id}/"`, names);

  /** Writes the histories of executions, the oldest first, once they have ended. */
  async function keepEach(query: string, names: string[]): Promise<void> {
    const found: WorkflowExecutionInfo[] = [];
    await eventually(async () => {
      found.length = 0;
      for await (const each of workflow.list({ query })) {
        found.push(each);
      }
      if (found.some(({ status }) => status.name === 'RUNNING')) {
        throw new Error('Not all of them have ended.');
      }
    });
    found.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
    if (found.length !== names.length) {
      throw new Error(`${found.length} workflows instead of ${names.length}`);
    }
    for (const [index, { workflowId, runId }] of found.entries()) {
      await keepNow(workflowId, names[index] ?? workflowId, runId);
    }
  }

  async function keepNow(workflowId: string, name: string, executionId?: string): Promise<void> {
    const history = await workflow.getHandle(workflowId, executionId).fetchHistory();
    // Stacks of failures name files; their location on this machine must not be recorded.
    const text = historyToJSON(history).replaceAll(`${root}/`, '');
    await writeFile(join(histories, `${name}-${changesUntil}.json`), text, { flag: 'wx' }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    });
  }
  async function keepOne(workflowId: string, name: string): Promise<void> {
    await workflow.getHandle(workflowId).result();
    await keepNow(workflowId, name);
  }

  try {
    await mkdir(histories, { recursive: true });
    const answered = await begin('Hi');
    await until(answered.id, 'done');
    await keep(answered.id, 'session-answered');

    models.provider.answers(() => ({ status: 400, body: {} }));
    const failed = await begin('Hi');
    await until(failed.id, 'error');
    await keep(failed.id, 'session-failed');

    const gate = aGate();
    models.provider.answers(async function* () {
      yield 'Half';
      await gate.opened;
    });
    const superseded = await begin('Hi');
    await until(superseded.id, 'content_delta');
    models.provider.answers(() => ['Whole']);
    await call(`/sessions/${superseded.id}/messages`, { content: 'Again' });
    await until(superseded.id, 'done');
    gate.open();
    await keep(superseded.id, 'session-superseded', 'session-superseding');

    const recorder = { call, keepOne, keepNow, keepEach, provider: models.provider };
    await recordTrees(recorder);
    await recordRuns(recorder);
    await recordHooked(recorder);
    await recordTools({ ...recorder, board: service, keepSession: keep });
  } finally {
    await connection.close();
    await service.close();
    await models.close();
    await presets.close();
  }
}

void main();
