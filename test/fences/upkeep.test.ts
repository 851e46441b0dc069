import { eventually } from '../../platform/testing/eventually';
import { identifySelf } from '../../platform/processes/identity';
import { sampleRequest } from '../../runs/admission/sample-request';
import { createHostStore } from '../../stores/host-store';
import { startUpkeep, type Upkeep } from '../../worker/upkeep';
import { admissionFixture, log, type AdmissionFixture } from './admission-fixture';
import { Crash, crash } from './interleaving';
import { anAttempt } from './records';

let fixture: AdmissionFixture;
let upkeep: Upkeep | undefined;
beforeEach(async () => {
  fixture = await admissionFixture(() => new Date());
});
afterEach(async () => {
  await upkeep?.close();
  await fixture.close();
});

/** An attempt that ended while nobody gave back what it holds. */
const endedId = 'attempt_fence000005';
const start = async () => {
  upkeep = await startUpkeep({
    hostId: 'here',
    workerId: 'worker',
    process: await identifySelf(),
    hosts: await createHostStore(fixture.db),
    admission: fixture.control,
    attempts: { get: async (id: string) => anAttempt(id, { state: id === endedId ? 'ended' : 'running' }) },
    concurrency: 1,
    queues: [],
    log,
  });
};
const ago = (ms: number) => new Date(Date.now() - ms);

it('a worker clears what crashes have left of capacity, and renews what its own host holds', async () => {
  const { reservations } = fixture.control;
  const [orphan, own] = [
    sampleRequest('attempt_fence000001', { hostId: 'there' }),
    sampleRequest('attempt_fence000003', { hostId: 'here' }),
  ];
  fixture.db.before('admission-reservations', 'insert', crash);
  await expect(reservations.reserve(orphan, [], ago(120_000), 300_000)).rejects.toThrow(Crash);
  await reservations.reserve(own, [], ago(90_000), 100_000);
  expect(await reservations.holders()).toHaveLength(2);
  await start();
  await eventually(async () => expect(await reservations.holders()).toEqual([own.attemptId]));
  const { heartbeatAt } = (await reservations.get(own.attemptId))!;
  expect(Date.parse(heartbeatAt)).toBeGreaterThan(ago(60_000).getTime());
});

it('a worker gives back what an attempt holds that has ended without its release', async () => {
  const { reservations } = fixture.control;
  for (const attemptId of [endedId, 'attempt_fence000003']) {
    await reservations.reserve(sampleRequest(attemptId, { hostId: 'there' }), [], ago(90_000), 300_000);
  }
  await start();
  await eventually(async () => expect(await reservations.holders()).toEqual(['attempt_fence000003']));
  expect(await reservations.get(endedId)).toMatchObject({ state: 'released', release: { reason: 'reconciled' } });
});
