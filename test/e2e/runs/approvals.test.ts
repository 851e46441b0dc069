import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { responseContext } from '../../../domain/approvals/decision-options';
import { createSealedBoxKey } from '../../../platform/crypto/sealed-box';
import { searchAttributes } from '../../../platform/temporal/search-attributes';
import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { runApprovalId } from '../../../workflows/run-approval/messages';
import type { Caller } from '../../support/caller';
import { anApprovalRequest } from '../../support/factories/approval';
import { aRepository } from '../../support/git/repository';
import { aRequester, aWaitingRun, type Requester } from '../../support/runs/approvals';
import { adminKey, startSecuredStack } from '../../support/stack/secured-stack';
import type { Stack } from '../../support/stack/stack';
import { TestWatcher } from '../../support/watcher';

let stack: Stack;
let admin: Caller;
let agent: Caller;
let requester: Requester;

beforeAll(async () => {
  ({ stack, admin, agent } = await startSecuredStack());
  await admin.addRepository('sample', await aRepository(stack.dir));
  await admin.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
  requester = await aRequester(stack.temporal, { dataDir: stack.env.BOARD_DATA_DIR, mongoUrl: stack.env.MONGODB_URL });
});

afterAll(async () => {
  await requester.close();
  await stack.close();
});

const path = (id: string, rest = '') => `/api/run-approvals/${id}${rest}`;
const decisionOn = (approval: { revision: number; actionHash: string }, fields: object = {}) => ({
  decision: 'approved',
  expectedRevision: approval.revision,
  expectedActionHash: approval.actionHash,
  ...fields,
});
const kinds = async (run: { taskId: string; attemptId: string }) =>
  (await admin.events(run.taskId, run.attemptId)).map(({ kind }) => kind);

describe('approvals of a run', () => {
  test('a request is published once, listed, decided once, and the waiting run continues', async () => {
    const run = await aWaitingRun(admin);
    const watcher = await TestWatcher.open(stack.url, {}, `?api_key=${adminKey}`);
    const approval = await requester.approvals.request(anApprovalRequest(run));
    const again = await requester.approvals.request(anApprovalRequest(run));
    expect(again).toEqual(approval);
    const waiting = requester.approvals.settled(approval.id, AbortSignal.timeout(120_000));
    await watcher.receives((message) => message.type === 'run-approval:changed' && message.approval.id === approval.id);
    await eventually(async () => expect(await kinds(run)).toEqual(['run.started', 'approval.requested']));
    const listed = await admin.ok('GET', `/api/run-approvals?attemptId=${run.attemptId}&status=pending`);
    expect(listed).toMatchObject([
      { id: approval.id, schemaVersion: 'run-approval/v1', status: 'pending', revision: 1 },
    ]);

    await eventually(async () => {
      const { typedSearchAttributes } = await stack.temporal.workflow.getHandle(agentRunId(run.attemptId)).describe();
      expect(typedSearchAttributes.get(searchAttributes.runState)).toBe('waiting-for-approval');
    });

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        admin.post(
          path(approval.id, '/decision'),
          decisionOn(approval, { decision: index % 2 ? 'rejected' : 'approved' }),
        ),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect(status).toBe(409);
      expect(body).toMatchObject({ code: 'APPROVAL_NOT_PENDING', details: { current: { id: approval.id } } });
    }
    const record = won[0]!.body;
    expect(record).toMatchObject({ revision: 2, resolution: { decision: record.status, actor: 'service:admin' } });
    await expect(waiting).resolves.toEqual(record);
    await watcher.receives(
      (message) => message.type === 'run-approval:changed' && message.approval.status === record.status,
    );
    watcher.close();
    expect(await kinds(run)).toEqual(['run.started', 'approval.requested', 'approval.resolved']);
    await stack.temporal.workflow.getHandle(runApprovalId(approval.id)).result();
    await eventually(async () => {
      const { typedSearchAttributes } = await stack.temporal.workflow.getHandle(agentRunId(run.attemptId)).describe();
      expect(typedSearchAttributes.get(searchAttributes.runState)).toBe('running');
    });
    expect(await requester.approvals.request(anApprovalRequest(run))).toEqual(record);
  });

  test('a decision counts for exactly what was seen', async () => {
    const run = await aWaitingRun(admin);
    const approval = await requester.approvals.request(anApprovalRequest(run));
    const decide = (fields: object) => admin.post(path(approval.id, '/decision'), decisionOn(approval, fields));
    expect(await decide({ expectedActionHash: 'a'.repeat(64) })).toMatchObject({
      status: 409,
      body: { code: 'APPROVAL_ACTION_CHANGED', details: { current: { status: 'pending', revision: 1 } } },
    });
    expect(await decide({ expectedRevision: 2 })).toMatchObject({
      status: 409,
      body: { code: 'APPROVAL_STALE', details: { next: { method: 'GET', path: path(approval.id) } } },
    });
    expect(await decide({ decision: 'maybe' })).toMatchObject({ status: 400 });
    expect(await decide({ more: true })).toMatchObject({ status: 400 });
    await expect(requester.approvals.request(anApprovalRequest(run, { action: 'rm -rf /' }))).rejects.toMatchObject({
      code: 'APPROVAL_ACTION_CHANGED',
      status: 409,
    });
    expect(await admin.get(path(approval.id))).toMatchObject({ status: 200, body: { status: 'pending' } });
    expect(await admin.get(path(`runapproval_${'0'.repeat(32)}`))).toMatchObject({ status: 404 });
    expect(await admin.get(path('runapproval_..%2f'))).toMatchObject({ status: 400 });
  });

  test('an administrator decides, from a client that shows enough of it', async () => {
    const run = await aWaitingRun(admin);
    const approval = await requester.approvals.request(anApprovalRequest(run));
    expect(await agent.get(path(approval.id))).toMatchObject({ status: 200 });
    expect(await agent.post(path(approval.id, '/decision'), decisionOn(approval))).toMatchObject({ status: 403 });
    const telephone = { 'x-client-mode': 'mobile' };
    expect(await admin.post(path(approval.id, '/decision'), decisionOn(approval), telephone)).toMatchObject({
      status: 403,
      body: { code: 'MOBILE_NOT_ALLOWED' },
    });
    const small = await requester.approvals.request(
      anApprovalRequest(run, { providerRequestId: 'small', riskClass: 'low' }),
    );
    expect(await admin.post(path(small.id, '/decision'), decisionOn(small), telephone)).toMatchObject({ status: 200 });
  });

  test('response data reaches the waiting run and is stored nowhere', async () => {
    const run = await aWaitingRun(admin);
    const key = createSealedBoxKey();
    const approval = await requester.approvals.request(
      anApprovalRequest(run, { requestKind: 'elicitation', actionClass: 'elicitation', responseKey: key.publicKey }),
    );
    const deaf = await requester.approvals.request(anApprovalRequest(run, { providerRequestId: 'deaf' }));
    const responseData = { password: 'correct-horse-battery-staple' };
    expect(await admin.post(path(deaf.id, '/decision'), decisionOn(deaf, { responseData }))).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'responseData' }] } },
    });
    const decided = await admin.post(path(approval.id, '/decision'), decisionOn(approval, { responseData }));
    expect(decided).toMatchObject({ status: 200, body: { resolution: { responseData: '[handed to the run]' } } });
    await requester.approvals.settled(approval.id, AbortSignal.timeout(120_000));
    const sealed = await requester.approvals.takeResponse(approval.id);
    expect(JSON.parse(key.open(sealed!, responseContext(approval)))).toEqual(responseData);
    expect(await requester.approvals.takeResponse(approval.id)).toBeUndefined();

    const secret = responseData.password;
    const history = await stack.temporal.workflow.getHandle(runApprovalId(approval.id)).fetchHistory();
    expect(historyToJSON(history)).not.toContain(Buffer.from(secret).toString('base64').slice(0, 12));
    expect(JSON.stringify(await admin.events(run.taskId, run.attemptId))).not.toContain(secret);
    for (const file of readdirSync(stack.env.BOARD_DATA_DIR, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) {
        expect(readFileSync(join(file.parentPath, file.name)).includes(secret)).toBe(false);
      }
    }
  });

  test('no one can decide after the time is over, and a timer reports it', async () => {
    const run = await aWaitingRun(admin);
    const approval = await requester.approvals.request(anApprovalRequest(run, { lifetimeMs: 1_000 }));
    const settled = await requester.approvals.settled(approval.id, AbortSignal.timeout(120_000));
    expect(settled).toMatchObject({ status: 'expired', resolution: { decision: 'expired', actor: 'system:expiry' } });
    expect(await admin.post(path(approval.id, '/decision'), decisionOn(approval))).toMatchObject({
      status: 409,
      body: { code: 'APPROVAL_NOT_PENDING', details: { current: { status: 'expired' } } },
    });
    await eventually(async () => expect((await kinds(run)).at(-1)).toBe('approval.resolved'));
  });

  test('the end of a run takes back what it has asked for', async () => {
    const run = await aWaitingRun(admin);
    const approval = await requester.approvals.request(anApprovalRequest(run));
    await admin.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
    expect(await admin.ok('GET', path(approval.id))).toMatchObject({
      status: 'cancelled',
      resolution: { actor: 'system:run-end' },
    });
    await expect(stack.temporal.workflow.getHandle(runApprovalId(approval.id)).result()).resolves.toBe('cancelled');
    expect(await kinds(run)).toEqual(['run.started', 'approval.requested', 'approval.resolved', 'run.interrupted']);
    await expect(
      requester.approvals.request(anApprovalRequest(run, { providerRequestId: 'late' })),
    ).rejects.toMatchObject({ code: 'RUN_ENDED', status: 409 });
  });

  test('a request whose workflow was lost is decided all the same', async () => {
    const run = await aWaitingRun(admin);
    const approval = await requester.approvals.request(anApprovalRequest(run));
    await eventually(async () => expect(await kinds(run)).toContain('approval.requested'));
    await stack.temporal.workflow.getHandle(runApprovalId(approval.id)).terminate('its history is lost');
    expect(await admin.post(path(approval.id, '/decision'), decisionOn(approval))).toMatchObject({
      status: 200,
      body: { status: 'approved' },
    });
    expect((await kinds(run)).filter((kind) => kind === 'approval.requested')).toHaveLength(1);
  });
});
