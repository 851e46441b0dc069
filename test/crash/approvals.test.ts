import { Client, Connection } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { eventually } from '../../platform/testing/eventually';
import { anApprovalRequest, aRequester, aWaitingRun, type Requester } from '../support/approvals';
import type { Answer } from '../support/caller';
import { confinedAgent, inMs, readPhase, transitionOf } from '../support/phases';
import { aRepository } from '../support/repository';
import { startService, type Service } from '../support/service';

let service: Service;
let files: TempDir;
let connection: Connection;
let requester: Requester;

const connect = async () => {
  connection = await Connection.connect({ address: service.temporalAddress });
  requester = await aRequester(new Client({ connection }), { dataDir: service.dataDir });
};
const disconnect = async () => {
  await requester.close();
  await connection.close();
};

beforeAll(async () => {
  files = await makeTempDir('crash-approvals');
  service = await startService();
  await service.call.addRepository('sample', await aRepository(files.path));
  await service.call.configureAgents([
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    { ...confinedAgent('jailed'), provider: 'remote-callback', command: undefined, args: undefined },
  ]);
  await connect();
}, 60_000);

afterAll(async () => {
  await disconnect();
  await service.close();
  await files.remove();
});

const kill = (part: string) => process.kill(service.pids()[part] ?? 0, 'SIGKILL');
/** Repeats a call that may meet a dead process. */
const persistently = <T>(call: () => Promise<T>): Promise<T> => eventually(call, { withinMs: 60_000, everyMs: 200 });

/** Decides as a caller does who was not answered: looks at the record, and decides again while it is pending. */
const decided = (id: string): Promise<Answer['body']> =>
  persistently(async () => {
    const current = await service.call.ok('GET', `/api/run-approvals/${id}`);
    if (current.status !== 'pending') return current;
    await service.call.ok('POST', `/api/run-approvals/${id}/decision`, {
      decision: 'approved',
      expectedRevision: current.revision,
      expectedActionHash: current.actionHash,
    });
    throw new Error('look again');
  });

const parts = ['worker', 'api', 'temporal'] as const;

test.each(parts.flatMap((first) => parts.map((second) => [first, second] as const)))(
  'killing the %s after the request and the %s with the decision loses and doubles nothing',
  async (first, second) => {
    const run = await persistently(() => aWaitingRun(service.call));
    const request = anApprovalRequest(run, { lifetimeMs: 600_000 });
    const approval = await persistently(() => requester.approvals.request(request));
    const waiting = requester.approvals.settled(approval.id, AbortSignal.timeout(90_000));
    kill(first);
    const deciding = decided(approval.id);
    kill(second);
    const record = await deciding;
    expect(record).toMatchObject({ status: 'approved', revision: 2 });
    await expect(waiting).resolves.toEqual(record);
    await persistently(async () => {
      const events = await service.call.events(run.taskId, run.attemptId);
      const told = events.map(({ kind }) => kind).filter((kind) => kind.startsWith('approval.'));
      expect(told).toEqual(['approval.requested', 'approval.resolved']);
    });
    await persistently(() => service.call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId }));
  },
  150_000,
);

test('what ends while everything is down has ended when it is back, in the name of the system', async () => {
  const run = await persistently(() => aWaitingRun(service.call));
  await persistently(() => requester.approvals.request(anApprovalRequest(run, { lifetimeMs: 3_000 })));
  const jailed = await aWaitingRun(service.call, 'jailed');
  const url = `/api/agents/${jailed.taskId}/phase/transitions`;
  const legacy = await readPhase(service.call, jailed);
  const { snapshot } = await service.call.ok(
    'POST',
    url,
    transitionOf(legacy, 'implement', 'narrow', {
      targetEvidence: { phase: 'implement', dimensions: { 'network.egress': { scopes: [] } } },
    }),
  );
  const emergencyOverride = { justification: 'production is down', expiresAt: inMs(4_000) };
  const begun = await service.call.ok('POST', url, transitionOf(snapshot, 'implement', 'wide', { emergencyOverride }));
  expect(begun).toMatchObject({ snapshot: { emergency: { operationId: 'wide' } } });

  await disconnect();
  service = await service.restart(async () => {
    // Nothing runs now: the moment of both timers passes unseen.
    await delay(Math.max(0, Date.parse(emergencyOverride.expiresAt) - Date.now()) + 500);
  });
  await connect();
  await persistently(async () => {
    const events = await service.call.events(run.taskId, run.attemptId);
    expect(events.at(-1)).toMatchObject({
      kind: 'approval.resolved',
      payload: { status: 'expired', actor: 'system:expiry' },
    });
  });
  // The worker ends it without anybody looking.
  const client = new Client({ connection });
  await expect(client.workflow.getHandle(`phase-expansion/${jailed.attemptId}/wide`).result()).resolves.toEqual({
    applied: true,
  });
  const after = await readPhase(service.call, jailed);
  expect(after).toMatchObject({ emergency: null, sequence: 3, evidence: { digest: snapshot.evidence.digest } });
  expect(after.history[2]).toMatchObject({ kind: 'emergency-ended', actor: 'system:phase-expiry' });
}, 120_000);
