import type { RunApproval } from '../../../contracts/runs/approval';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';

/** How old the proof of who decides may be when the risk is critical, in milliseconds. */
export const freshForMs = 5 * 60_000;

/** The header in which a client that is no paired device states its mode. It can only take rights away. */
export const clientModeHeader = 'x-client-mode';

const isMobile = (mode: string | undefined): boolean => mode !== undefined && /^(mobile|pwa)(-|$)/i.test(mode.trim());

/**
 * Whether this caller may decide this approval at all, whatever it decides.
 *
 * @param claimedMode value of the client mode header
 * @throws AppError 403 `MOBILE_NOT_ALLOWED` or `AUTHENTICATION_STALE`
 */
export function assertMayDecide(
  auth: AuthContext,
  approval: RunApproval,
  { claimedMode, now }: { claimedMode: string | undefined; now: Date },
): void {
  const { id: approvalId, riskClass } = approval;
  if (!approval.mobileSafe && (isMobile(auth.clientMode) || isMobile(claimedMode))) {
    throw new AppError('MOBILE_NOT_ALLOWED', {
      status: 403,
      message: 'This approval requires review on a desktop client.',
      details: { approvalId, riskClass },
    });
  }
  const { authenticatedAt } = auth;
  if (riskClass !== 'critical' || authenticatedAt === undefined) {
    return;
  }
  const ageMs = now.getTime() - Date.parse(authenticatedAt);
  if (ageMs <= freshForMs) {
    return;
  }
  throw new AppError('AUTHENTICATION_STALE', {
    status: 403,
    message: 'A critical action requires a recent sign-in: sign in again and decide.',
    details: { approvalId, riskClass, authenticatedAt, maxAgeMs: freshForMs },
  });
}
