import type { RunApproval } from '../../../contracts/runs/approval';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { assertMayDecide } from './policy';

const now = new Date('2026-01-01T12:00:00.000Z');
const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
const auth = (fields: Partial<AuthContext>) => ({ role: 'admin', ...fields }) as AuthContext;
const approval = (fields: Partial<RunApproval>) =>
  ({ id: 'runapproval_0', riskClass: 'medium', mobileSafe: true, ...fields }) as RunApproval;

const attempt = (caller: Partial<AuthContext>, about: Partial<RunApproval>, claimedMode?: string) => () =>
  assertMayDecide(auth(caller), approval(about), { claimedMode, now });

describe('approval policy', () => {
  test('a critical action needs a sign-in of the last five minutes, or one with the request itself', () => {
    const critical = { riskClass: 'critical' as const };
    expect(attempt({ authenticatedAt: before(6) }, critical)).toThrow(
      expect.objectContaining({ code: 'AUTHENTICATION_STALE', status: 403 }),
    );
    expect(attempt({ authenticatedAt: before(5) }, critical)).not.toThrow();
    expect(attempt({}, critical)).not.toThrow();
    expect(attempt({ authenticatedAt: before(600) }, { riskClass: 'high' })).not.toThrow();
  });

  test('what is not safe to decide on a telephone is not, however the telephone identifies itself', () => {
    const unsafe = { mobileSafe: false };
    const refused = expect.objectContaining({ code: 'MOBILE_NOT_ALLOWED', status: 403 });
    expect(attempt({ clientMode: 'mobile' }, unsafe)).toThrow(refused);
    expect(attempt({ clientMode: 'mobile-pwa' }, unsafe, 'cli')).toThrow(refused);
    expect(attempt({}, unsafe, 'PWA')).toThrow(refused);
    expect(attempt({ clientMode: 'mobile' }, { mobileSafe: true })).not.toThrow();
    expect(attempt({ clientMode: 'desktop-local' }, unsafe)).not.toThrow();
  });
});
