import fc from 'fast-check';
import { type ApprovalRequest, runApproval } from '../../contracts/runs/approval';
import { actionHashOf, approvalIdOf } from './identity';
import { newApproval } from './record';
import { isMobileSafe, riskOf } from './risk';

const request = (fields: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  workspaceId: 'local',
  taskId: 'task_20260101_ab12cd',
  attemptId: 'attempt_ab12cd34',
  provider: 'process',
  agentId: 'example',
  actionClass: 'shell',
  action: 'rm -rf build',
  providerRequestId: 'r-1',
  riskClass: 'high',
  policyReason: 'The agent requires permission for this action.',
  ...fields,
});
const now = new Date('2026-01-01T00:00:00.000Z');

describe('approval requests', () => {
  test('the same request has one id and one hash, whatever the order of its fields', () => {
    const a = request({ details: { a: 1, b: { c: 2, d: 3 } } });
    const b = request({ details: { b: { d: 3, c: 2 }, a: 1 } });
    expect(approvalIdOf(a)).toBe(approvalIdOf(b));
    expect(actionHashOf(a)).toBe(actionHashOf(b));
    expect(approvalIdOf(a)).toMatch(/^runapproval_[0-9a-f]{32}$/);
  });

  test.each([
    { action: 'rm -rf /' },
    { details: { more: true } },
    { resourceScope: ['/etc'] },
    { workingDirectory: '/' },
    { actionClass: 'filesystem' as const },
    { riskClass: 'low' as const },
  ])('another action keeps the id and changes the hash: %j', (change) => {
    expect(approvalIdOf(request(change))).toBe(approvalIdOf(request()));
    expect(actionHashOf(request(change))).not.toBe(actionHashOf(request()));
  });

  test('parts of an identity cannot run into each other', () => {
    expect(approvalIdOf(request({ provider: 'a', providerRequestId: 'b,c' }))).not.toBe(
      approvalIdOf(request({ provider: 'a,b', providerRequestId: 'c' })),
    );
  });

  test('a record holds no secrets, and its hash still distinguishes two secrets', () => {
    const secret = `ghp_${'a'.repeat(36)}`;
    const record = newApproval(
      request({ action: `login ${secret}`, details: { password: 'swordfish', url: secret } }),
      now,
    );
    expect(JSON.stringify(record)).not.toContain(secret);
    expect(JSON.stringify(record)).not.toContain('swordfish');
    expect(record.actionHash).not.toBe(newApproval(request({ action: 'login [REDACTED]' }), now).actionHash);
  });

  test('a lifetime is five minutes, and never less than a second or more than a day', () => {
    const livesMs = (lifetimeMs?: number) =>
      Date.parse(newApproval(request(lifetimeMs === undefined ? {} : { lifetimeMs }), now).expiresAt) - now.getTime();
    expect([livesMs(), livesMs(1), livesMs(10_000), livesMs(1e12)]).toEqual([300_000, 1_000, 10_000, 86_400_000]);
  });

  test('whatever is asked, the record fits its contract and is bounded', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(fc.string()),
        (action, details, scope) => {
          const record = newApproval(request({ action, details, resourceScope: scope }), now);
          expect(runApproval.safeParse(record).success).toBe(true);
          expect(JSON.stringify(record).length).toBeLessThan(400_000);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('an agent can raise the risk of its action and never lower it', () => {
    expect(riskOf('shell')).toBe('high');
    expect(riskOf('shell', 'low')).toBe('high');
    expect(riskOf('tool', 'critical')).toBe('critical');
    expect(isMobileSafe('medium')).toBe(true);
    expect(isMobileSafe('high')).toBe(false);
    expect(newApproval(request({ riskClass: 'critical', mobileSafe: true }), now).mobileSafe).toBe(false);
  });
});
