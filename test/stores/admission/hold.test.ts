import { join } from 'node:path';
import { type HoldDependencies, requireReservation } from '../../../activities/agent-run/admission/hold';
import { type LaunchSource, launchSource, type TreeEdge, treeEdge } from '../../../contracts/runs/admission';
import { policiesOf } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { sampleRequest } from '../../../domain/admission/sample-request';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { Database } from '../../../stores/port/collection';
import { createAdmissionRequestStore } from '../../../stores/runs/admission/admission-request-store';
import { createReservationStore } from '../../../stores/runs/admission/reservation-store';
import { createTreeStore } from '../../../stores/runs/admission/tree-store';
import { createSettingsStore } from '../../../stores/settings/settings-store';
import { openSqlite } from '../../../stores/sqlite/database';

let dir: TempDir;
let database: Database;
let deps: HoldDependencies;
let now = new Date('2026-01-01T00:00:00.000Z');

beforeAll(async () => {
  dir = await makeTempDir('hold');
  database = await openSqlite({
    file: join(dir.path, 'board.sqlite'),
    log: createLog({ name: 'test', level: 'fatal' }),
  });
  deps = {
    requests: await createAdmissionRequestStore(database),
    reservations: await createReservationStore(database),
    trees: await createTreeStore(database),
    settings: await createSettingsStore(database, { BOARD_MAX_RUNS: 1, BOARD_RUN_TIMEOUT_MS: 60_000 }),
    hosts: { capacityOf: async () => ({ takesWork: true, runs: undefined }) },
    now: () => now,
  };
});
afterAll(async () => {
  await database.close();
  await dir.remove();
});

let attempts = 0;
async function aRequest(source: LaunchSource, edge: TreeEdge = 'root'): Promise<AdmissionRequest> {
  attempts += 1;
  const attemptId = `attempt_hold${String(attempts).padStart(8, '0')}`;
  const request = sampleRequest(attemptId, { source, edge, hostId: 'h', requestedAt: now.toISOString() });
  await deps.trees.open(request);
  return deps.requests.put(request);
}

const reserve = async (request: AdmissionRequest) => {
  const { admission } = await deps.settings.current();
  return deps.reservations.reserve(request, policiesOf(admission, request), { now, leaseMs: 1_000 });
};
const release = ({ attemptId }: AdmissionRequest) =>
  deps.reservations.release(attemptId, { reason: 'completed', evidence: 'done', now });
const missing = expect.objectContaining({ type: 'ADMISSION_RESERVATION_MISSING' });

/** Where launches come from, and what each may be to the one it descends from. */
const launches = launchSource.options.flatMap((source) => treeEdge.options.map((edge) => [source, edge] as const));

test('every source of the specification is one of these', () => {
  const named: [LaunchSource, TreeEdge][] = [
    ['direct', 'root'],
    ['scheduled', 'root'],
    ['watcher', 'follow-up'],
    ['conversation', 'resume'],
    ['conversation', 'follow-up'],
    ['recovery', 'retry'],
    ['fallback', 'fallback'],
    ['recovery', 'provider-handoff'],
    ['child-agent', 'child-agent'],
    ['workflow', 'root'],
    ['workflow', 'workflow-step'],
  ];
  expect(launches).toEqual(expect.arrayContaining(named));
});

describe.each(launches)('a launch by %s as %s', (source, edge) => {
  it('reaches a provider with a reservation, which is committed then, and never without', async () => {
    const holder = await aRequest('direct');
    await reserve(holder);
    const request = await aRequest(source, edge);
    await expect(requireReservation(deps, request.attemptId)).rejects.toEqual(missing);
    await release(holder);

    await reserve(request);
    await requireReservation(deps, request.attemptId);
    expect(await deps.reservations.get(request.attemptId)).toMatchObject({ committed: request.requested });
    await release(request);
    await expect(requireReservation(deps, request.attemptId)).rejects.toEqual(missing);
  });
});

it('nothing that admission has not seen reaches a provider', async () => {
  await expect(requireReservation(deps, 'attempt_unknown00')).rejects.toEqual(missing);
});

it('a lease that ran out is taken again if there is room, and not otherwise', async () => {
  const request = await aRequest('direct');
  await reserve(request);
  now = new Date(now.getTime() + 2_000);
  expect(await deps.reservations.expire(now)).toHaveLength(1);
  const other = await aRequest('direct');
  await reserve(other);
  await expect(requireReservation(deps, request.attemptId)).rejects.toEqual(missing);
  await release(other);
  await requireReservation(deps, request.attemptId);
  expect(await deps.reservations.get(request.attemptId)).toMatchObject({ state: 'active', generation: 2 });
  await release(request);
});

it('capacity that is held is given without reading what its host has left', async () => {
  const request = await aRequest('direct');
  await reserve(request);
  const away = { capacityOf: () => Promise.reject(new Error('asked')) };
  await requireReservation({ ...deps, hosts: away }, request.attemptId);
  await release(request);
});

it('nothing of a cancelled tree reaches a provider, whatever it holds', async () => {
  const request = await aRequest('direct');
  await reserve(request);
  const note = { action: 'cancel' as const, actor: 'a', reason: 'r', at: now.toISOString(), keyHash: null };
  await deps.trees.cancel(request.rootObjectiveId, note);
  await expect(requireReservation(deps, request.attemptId)).rejects.toEqual(
    expect.objectContaining({ type: 'EXECUTION_TREE_CANCELLED' }),
  );
  await release(request);
});
