import { agentDecider } from '../../../activities/agent-run/dispatch/agent-approvals';
import { type ApprovalRequest, responseMarker } from '../../../contracts/runs/approval';
import { responseContext } from '../../../domain/approvals/decision-options';
import { newApproval } from '../../../domain/approvals/record';
import { createSealedBoxKey, seal, type SealedBox } from '../../../platform/crypto/sealed-box';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { Approvals } from '../../../workflows/run-approval/client';

/** The fields of an attempt that a decider reads. */
const record = {
  _id: 'attempt_test000001',
  taskId: 'task_20260101_test01',
  provider: 'process',
  agent: 'bee',
} as unknown as AttemptRecord;
const question = {
  requestId: 'one',
  requestKind: 'elicitation',
  actionClass: 'elicitation',
  action: 'Which?',
} as const;
const colour = JSON.stringify({ colour: 'green' });

/** The response to an agent when its question is approved with these data, as the stores return them. */
function answered(handedOut: (intact: SealedBox, request: ApprovalRequest) => SealedBox | undefined) {
  let asked: ApprovalRequest;
  const approval = () => newApproval(asked, new Date());
  const approvals = {
    request: async (request: ApprovalRequest) => {
      asked = request;
      return approval();
    },
    settled: async () => ({
      ...approval(),
      status: 'approved',
      resolution: { decision: 'approved', actor: 'ada', decidedAt: 'now', responseData: responseMarker },
    }),
    takeResponse: async () => handedOut(seal(asked.responseKey!, colour, responseContext(approval())), asked),
  };
  return agentDecider({ approvals: approvals as unknown as Approvals, workspaceId: 'local' }, record)(
    question,
    new AbortController().signal,
  );
}

const flipped = (text: string): string => {
  const bytes = Buffer.from(text, 'base64url');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return bytes.toString('base64url');
};

describe('agent approvals', () => {
  test('an agent receives the data of its answer', async () => {
    expect(await answered((intact) => intact)).toMatchObject({
      decision: 'approved',
      decidedBy: 'ada',
      response: { colour: 'green' },
    });
  });

  test.each<[string, Parameters<typeof answered>[0]]>([
    ['were sealed for another key', () => seal(createSealedBoxKey().publicKey, colour, 'context')],
    ['were sealed for another question', (_, { responseKey }) => seal(responseKey!, colour, 'another')],
    ['were changed', (intact) => ({ ...intact, ciphertext: flipped(intact.ciphertext) })],
    ['have lost their end', (intact) => ({ ...intact, ciphertext: '' })],
    ['have another seal', (intact) => ({ ...intact, tag: flipped(intact.tag) })],
    ['are from an unknown sender', (intact) => ({ ...intact, sender: 'nobody' })],
    ['are no box', () => ({}) as SealedBox],
    ['are no JSON', (_, request) => sealedAs('{"colour":', request)],
    ['were handed out before', () => undefined],
  ])('an agent whose data %s is notified that its question was cancelled', async (_case, handedOut) => {
    expect(await answered(handedOut)).toEqual({
      approvalId: expect.any(String),
      decision: 'cancelled',
      decidedBy: 'system',
      note: expect.stringContaining('Request again'),
    });
  });

  const sealedAs = (text: string, request: ApprovalRequest): SealedBox =>
    seal(request.responseKey!, text, responseContext(newApproval(request, new Date())));
});
