import type { DeviceSession } from '../../../contracts/identity/device';
import type { CredentialState } from '../../../contracts/identity/token';
import type { DeviceRecord } from '../../../stores/identity/device-store';

/** A device session as callers read it: nothing of its secret. */
export function presentDevice(record: DeviceRecord, state: CredentialState): DeviceSession {
  const { _id, hash: _hash, isRevoked: _revoked, endsAt: _ends, ...fields } = record;
  return { id: _id, ...fields, state };
}
