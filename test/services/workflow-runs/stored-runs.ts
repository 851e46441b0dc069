import { join } from 'node:path';
import { monotonicFactory } from 'ulid';
import { createLog } from '../../../platform/log/log';
import { endOfRun } from '../../../services/workflow-runs/retros/retro';
import { hasEnded, type RunRecord, type Stage } from '../../../services/workflow-runs/runs/run';
import { createRunStore, type RunStore } from '../../../services/workflow-runs/runs/store';
import type { Database } from '../../../stores/port/collection';
import { openDatabase } from '../../../stores/port/open';
import type { WorkflowRunsUnderTest } from './service-under-test';

const nextId = monotonicFactory();
const began = Date.parse('2026-03-01T12:00:00.000Z');
let made = 0;

export const aStage = (fields: Partial<Stage> = {}): Stage => ({
  id: 'plan',
  name: 'Plan',
  kind: 'codergen',
  status: 'completed',
  duration_secs: 2,
  dot_id: 'plan',
  retries: 0,
  ...fields,
});

/** A run as its workflow would have left it; each has ended a minute after the one before. */
export function aRun({ slug = 'ship-it', ...fields }: Partial<RunRecord> & { slug?: string } = {}): RunRecord {
  made += 1;
  const at = (seconds: number) => new Date(began + made * 60_000 + seconds * 1000).toISOString();
  const run: RunRecord = {
    _id: nextId(),
    status: 'completed',
    workflow: { name: 'Ship it', slug },
    title: 'Ship the helpers',
    dot_source: 'digraph { start -> plan }',
    created_by: 'ann',
    created_at: at(0),
    started_at: at(1),
    stages: [aStage()],
    context: {},
    guidance: [],
    revision: 1,
    ...fields,
  };
  const { ended_at = at(11) } = run;
  return hasEnded(run.status) ? { ...run, ended_at, ...endOfRun({ ...run, ended_at }) } : run;
}

export interface StoredRuns {
  database: Database;
  runs: RunStore;
  /** Stores a run and returns its record. */
  add(fields?: Parameters<typeof aRun>[0]): Promise<RunRecord>;
}

/** The store of a service under test, as a second process sees it. */
export async function openStoredRuns(service: Pick<WorkflowRunsUnderTest, 'dataDir'>): Promise<StoredRuns> {
  const log = createLog({ name: 'test-workflow-runs', level: 'silent' });
  const database = await openDatabase({ dataDir: join(service.dataDir, 'workflow-runs'), log });
  const runs = await createRunStore(database);
  return {
    database,
    runs,
    async add(fields) {
      const run = aRun(fields);
      await runs.insert(run);
      return run;
    },
  };
}
