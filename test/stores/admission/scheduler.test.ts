import { join } from 'node:path';
import { createSchedulerActivities } from '../../../activities/scheduler';
import type { AdmissionControl } from '../../../activities/admission-control/dependencies';
import { decideCapacity } from '../../../activities/admission-control/decide';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { globalScope, hostKey } from '../../../runs/admission/capacity';
import type { AdmissionRequest } from '../../../runs/admission/request';
import { createAdmissionRequestStore } from '../../../stores/admission-request-store';
import type { Database } from '../../../stores/collection';
import { createQueueStore } from '../../../stores/queue-store';
import { createReservationStore } from '../../../stores/reservation-store';
import { createSettingsStore } from '../../../stores/settings-store';
import { openSqlite } from '../../../stores/sqlite/database';
import { createTreeStore } from '../../../stores/tree-store';

const log = createLog({ name: 'test', level: 'fatal' });
const now = () => new Date();
let dir: TempDir;
let database: Database;
let control: AdmissionControl;
const told: string[] = [];

beforeAll(async () => {
  dir = await makeTempDir('scheduler');
  database = await openSqlite({ file: join(dir.path, 'board.sqlite'), log });
  control = {
    requests: await createAdmissionRequestStore(database),
    reservations: await createReservationStore(database),
    queue: await createQueueStore(database),
    trees: await createTreeStore(database),
    settings: await createSettingsStore(database, { BOARD_MAX_RUNS: 2, BOARD_RUN_TIMEOUT_MS: 60_000 }),
    hosts: { capacityOf: async (id) => ({ takesWork: id !== 'away', runs: undefined }) },
    log,
    now,
    wakeScheduler: async () => undefined,
  };
  await control.settings.patch({ admission: { queue: { globalLimit: 10_000, perWorkspaceLimit: 10_000 } } });
});
afterAll(async () => {
  await database.close();
  await dir.remove();
});

let attempts = 0;
function aRequest(hostId: string | null, priority = 1): AdmissionRequest {
  attempts += 1;
  const attemptId = `attempt_${String(attempts).padStart(12, '0')}`;
  return {
    version: 1,
    attemptId,
    taskId: attemptId,
    rootTaskId: attemptId,
    workspaceId: 'local',
    agent: 'a',
    provider: 'process',
    hostId,
    phase: 'implement',
    source: 'direct',
    edge: 'root',
    rootObjectiveId: attemptId,
    nodeId: attemptId,
    parentNodeId: null,
    depth: 0,
    priority,
    requested: { runs: 1, processes: 1, memoryMb: 512 },
    requestedAt: now().toISOString(),
  };
}
const enqueue = async (request: AdmissionRequest) => {
  await control.requests.put(request);
  const enqueuedAt = now().toISOString();
  await control.queue.enqueue({ ...request, enqueuedAt, limitingKey: globalScope.key, limitingPolicies: [] });
  return request.attemptId;
};
const look = () =>
  createSchedulerActivities({
    admission: control,
    attempts: { get: async () => undefined },
    hosts: control.hosts,
    signalCapacity: async (id) => told.push(id) > 0,
    requestStop: async () => true,
    log,
    now,
  }).dispatchQueued();

test('more entries than one window holds, which nothing can be done for, do not hide the one behind them that fits', async () => {
  const stuck: string[] = [];
  for (let n = 0; n < 1_050; n += 1) stuck.push(await enqueue(aRequest('away', 3)));
  const fits = await enqueue(aRequest('here', 1));
  await look();
  expect(told).toEqual([fits]);

  // They wait for their host and for nothing else: a launch elsewhere need not queue behind them, one on that host has to.
  expect(await control.queue.get(stuck[0]!)).toMatchObject({
    state: 'queued',
    limitingKey: hostKey('away'),
    limitingPolicies: [{ policy: 'host.runs', scope: 'host', limit: 0 }],
  });
  const elsewhere = await control.requests.put(aRequest('here'));
  expect(await decideCapacity(control, elsewhere)).toEqual({ decision: 'held' });
  const there = await control.requests.put(aRequest('away'));
  expect(await decideCapacity(control, there)).toMatchObject({ decision: 'queued' });
});
