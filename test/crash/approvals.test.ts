import { Client, Connection } from '@temporalio/client';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Answer } from '../support/caller';
import { anApprovalRequest } from '../support/factories/approval';
import { aRepository } from '../support/git/repository';
import { persistently } from '../support/processes/persistently';
import { aRequester, aWaitingRun, type Requester } from '../support/runs/approvals';
import { killPart, type Service, startService } from '../support/stack/service';

let service: Service;
let files: TempDir;
let connection: Connection;
let requester: Requester;

describe('approvals after crashes', () => {
  beforeAll(async () => {
    files = await makeTempDir('crash-approvals');
    service = await startService();
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
    connection = await Connection.connect({ address: service.temporalAddress });
    requester = await aRequester(new Client({ connection }), { dataDir: service.dataDir });
  });

  afterAll(async () => {
    await requester.close();
    await connection.close();
    await service.close();
    await files.remove();
  });

  const kill = (part: string) => killPart(service, part);

  /** Decides as a caller without a response does: reads the record, and decides again while it is pending. */
  const decided = (id: string): Promise<Answer['body']> =>
    persistently(async () => {
      const current = await service.call.ok('GET', `/api/run-approvals/${id}`);
      if (current.status !== 'pending') {
        return current;
      }
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
      const waiting = requester.approvals.settled(approval.id, AbortSignal.timeout(120_000));
      kill(first);
      const deciding = decided(approval.id);
      kill(second);
      const record = await deciding;
      expect(record).toMatchObject({ status: 'approved', revision: 2 });
      await expect(waiting).resolves.toEqual(record);
      await persistently(async () => {
        const events = await service.call.events(run.taskId, run.attemptId);
        const reported = events.map(({ kind }) => kind).filter((kind) => kind.startsWith('approval.'));
        expect(reported).toEqual(['approval.requested', 'approval.resolved']);
      });
      await persistently(() => service.call.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId }));
    },
  );
});
