import type { z } from 'zod';
import type { pairedDevice, PairingExchange } from '../../../contracts/identity/device';
import { isWithin } from '../../../domain/identity/grants';
import { approvedTerms } from '../../../domain/identity/pairing';
import { isSignedBy, keyFingerprint } from '../../../platform/crypto/device-signature';
import { exchangedToken, secretTokenText } from '../../../platform/crypto/secret-token';
import { AppError, conflict, type FieldIssue, validationError } from '../../../platform/errors/app-error';
import { digestOf } from '../../../platform/json/digest';
import { deviceRecordId, maxDevices } from '../../../stores/identity/device-store';
import { type PairingCodeRecord, signedAtToleranceMs } from '../../../stores/identity/pairing-code-store';
import type { ApiContext } from '../../context';
import { currentAuthority } from '../credential-state';
import { presentDevice } from './present';

export type ExchangeContext = Pick<ApiContext, 'devices' | 'now' | 'pairingCodes' | 'records' | 'users' | 'workspaces'>;

const invalidCode = (): AppError =>
  new AppError('PAIRING_CODE_INVALID', {
    status: 401,
    message: 'This is no pairing code, or not one of an administrator any more. Have a new one made.',
  });

const usedCode = (): AppError =>
  conflict('The pairing code has been used. Have a new one made.', {}, 'PAIRING_CODE_USED');

/**
 * Redeems a pairing code for the session of a device. Of several exchanges with one code one is accepted. The very same exchange
 * repeated gets the same session until that is used, so that a lost response costs no code: its token follows from the code and
 * the exchange, and is stored nowhere.
 *
 * @throws AppError 400; 401 `PAIRING_CODE_INVALID`, `PAIRING_SIGNATURE_INVALID`; 409 `PAIRING_CODE_USED`, `PAIRING_NONCE_USED`;
 *   410 `PAIRING_CODE_EXPIRED`
 */
export async function exchange(
  context: ExchangeContext,
  request: PairingExchange,
): Promise<z.infer<typeof pairedDevice>> {
  const { pairingCodes, devices, now } = context;
  const found = await pairingCodes.ofText(request.code);
  if (!found || !(await isOfAdministrator(context, found.record))) {
    throw invalidCode();
  }
  const { record: code, secret } = found;
  const usedFor = digestOf(request);
  assertOpen(code, usedFor, now());
  assertMatches(code, request, now());
  const { signature, ...signed } = request;
  if (!isSignedBy(request.publicKey, signature, signed)) {
    throw new AppError('PAIRING_SIGNATURE_INVALID', {
      status: 401,
      message: 'The signature is not that of publicKey over the canonical JSON of all other fields.',
    });
  }
  const { scopes, capabilities } = approvedTerms({ offered: code, requested: request });
  if (scopes.length === 0) {
    throw validationError([{ path: 'scopes', message: 'has none of those that the code offers for the role' }]);
  }
  const token = exchangedToken(secret, usedFor);
  const before = await devices.find(deviceRecordId(token.id));
  if (before?.isRevoked || before?.lastUsedAt !== undefined) {
    throw usedCode();
  }
  if (!before && !(await devices.hasRoom(code.workspaceId))) {
    throw conflict(
      `A workspace has ${maxDevices} paired devices at most.`,
      { limit: maxDevices, of: 'paired devices', workspaceId: code.workspaceId },
      'IDENTITY_LIMIT_REACHED',
    );
  }
  if (!(await pairingCodes.claimNonce(request.nonce, usedFor))) {
    throw conflict('The nonce was used before. Sign the request with another one.', {}, 'PAIRING_NONCE_USED');
  }
  if (!(await pairingCodes.use(code, usedFor))) {
    throw usedCode();
  }
  const { workspaceId, userId, membershipId, deviceName, clientMode } = code;
  const { deviceId, clientId, role, publicKey } = request;
  const session = await devices.createOnce(
    {
      ...{ workspaceId, userId, membershipId, deviceName, clientMode },
      ...{ deviceId, clientId, role, scopes, capabilities },
      keyFingerprint: keyFingerprint(publicKey),
    },
    token,
  );
  const { recordAudit } = await context.records.of(workspaceId);
  await recordAudit({
    action: 'device.pair',
    actor: `device:${deviceName}`,
    resource: session._id,
    details: { workspaceId, userId, code: code._id, deviceId, clientId, clientMode, role, scopes, capabilities },
    once: `device.pair ${session._id}`,
  });
  return { ...presentDevice(session, 'active'), token: secretTokenText('rbd', token) };
}

/** @throws AppError 409 for a code that another exchange has used, 410 for one that has expired */
function assertOpen(code: PairingCodeRecord, usedFor: string, at: Date): void {
  if (code.state === 'used') {
    if (code.usedFor !== usedFor) {
      throw usedCode();
    }
  } else if (Date.parse(code.expiresAt) <= at.getTime()) {
    throw new AppError('PAIRING_CODE_EXPIRED', {
      status: 410,
      message: 'The pairing code has expired. Have a new one made.',
      details: { expiresAt: code.expiresAt },
    });
  }
}

/** @throws AppError 400 with each field that is not what the code is for */
function assertMatches(code: PairingCodeRecord, request: PairingExchange, at: Date): void {
  const issues: FieldIssue[] = [];
  if (request.workspace !== code.workspaceId) {
    issues.push({ path: 'workspace', message: 'is not the workspace of the code' });
  }
  if (request.clientMode !== code.clientMode) {
    issues.push({ path: 'clientMode', message: `is not ${code.clientMode}, which the code is for` });
  }
  if (!isWithin(request.role, code.role)) {
    issues.push({ path: 'role', message: `is more than ${code.role}, which the code offers` });
  }
  if (Math.abs(at.getTime() - Date.parse(request.signedAt)) > signedAtToleranceMs) {
    issues.push({ path: 'signedAt', message: `is more than two minutes from the time here, ${at.toISOString()}` });
  }
  if (issues.length > 0) {
    throw validationError(issues);
  }
}

/** Whether the member who made the code still is an administrator, as a code needs. */
async function isOfAdministrator(context: ExchangeContext, code: PairingCodeRecord): Promise<boolean> {
  const { expiresAt: _expiresAt, ...maker } = { ...code, isRevoked: false };
  const authority = await currentAuthority(context, { ...maker, role: 'admin', scopes: ['admin:manage'] });
  return authority?.permissions.includes('admin:manage') ?? false;
}
