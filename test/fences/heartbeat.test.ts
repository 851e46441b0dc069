import { sampleRequest } from '../../domain/admission/sample-request';
import { identifySelf } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import { detectPresets } from '../../providers/agents/local/detect-presets';
import { createHostStore } from '../../stores/runs/hosts/host-store';
import { startHeartbeat, type WorkerHeartbeat } from '../../worker/heartbeat';
import { anAttempt } from '../support/factories/records';
import { type AdmissionFixture, admissionFixture, log } from './admission-fixture';
import { Crash, crash } from './interleaving';

let fixture: AdmissionFixture;
let heartbeat: WorkerHeartbeat | undefined;
describe('worker heartbeat fence', () => {
  beforeEach(async () => {
    fixture = await admissionFixture(() => new Date());
  });
  afterEach(async () => {
    await heartbeat?.close();
    await fixture.close();
  });

  /** An attempt that ended without the release of its capacity. */
  const endedId = 'attempt_fence000005';
  const start = async () => {
    heartbeat = await startHeartbeat({
      hostId: 'here',
      workerId: 'worker',
      process: await identifySelf(),
      hosts: await createHostStore(fixture.db),
      admission: fixture.control,
      attempts: { get: async (id: string) => anAttempt(id, { state: id === endedId ? 'ended' : 'running' }) },
      concurrency: 1,
      release: { version: '1.2.3', buildId: 'abc' },
      queues: [],
      findings: async () => [],
      agentPresets: () => detectPresets({ environment: {} }, new Date()),
      log,
    });
  };
  const ago = (ms: number) => new Date(Date.now() - ms);

  it('announces the release that it runs', async () => {
    await start();
    const hosts = await createHostStore(fixture.db);
    const [host] = await hosts.everyLive();
    expect(hosts.liveWorkersOf(host!)).toMatchObject([{ version: '1.2.3', buildId: 'abc' }]);
  });

  it('announces what the host has for agent presets', async () => {
    await start();
    const [announced] = await (await createHostStore(fixture.db)).agentPresets();
    expect(announced).toMatchObject({ hostId: 'here', announced: { npx: false, node: expect.any(Number) } });
  });

  it('a worker clears what crashes have left of capacity, and renews what its own host holds', async () => {
    const { reservations } = fixture.control;
    const [orphan, own] = [
      sampleRequest('attempt_fence000001', { hostId: 'there' }),
      sampleRequest('attempt_fence000003', { hostId: 'here' }),
    ];
    fixture.db.before('admission-reservations', 'insert', crash);
    await expect(reservations.reserve(orphan, [], { now: ago(120_000), leaseMs: 300_000 })).rejects.toThrow(Crash);
    await reservations.reserve(own, [], { now: ago(90_000), leaseMs: 100_000 });
    expect(await reservations.holders()).toHaveLength(2);
    await start();
    await eventually(async () => expect(await reservations.holders()).toEqual([own.attemptId]));
    const { heartbeatAt } = (await reservations.get(own.attemptId))!;
    expect(Date.parse(heartbeatAt)).toBeGreaterThan(ago(60_000).getTime());
  });

  it('a worker gives back what an attempt holds that has ended without its release', async () => {
    const { reservations } = fixture.control;
    for (const attemptId of [endedId, 'attempt_fence000003']) {
      await reservations.reserve(sampleRequest(attemptId, { hostId: 'there' }), [], {
        now: ago(90_000),
        leaseMs: 300_000,
      });
    }
    await start();
    await eventually(async () => expect(await reservations.holders()).toEqual(['attempt_fence000003']));
    expect(await reservations.get(endedId)).toMatchObject({ state: 'released', release: { reason: 'reconciled' } });
  });
});
