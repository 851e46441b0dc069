import type { ApiToken, CredentialState } from '../../../contracts/identity/token';
import type { TokenRecord } from '../../../stores/identity/token-store';

/** A token as callers read it: nothing of its secrets. */
export function presentToken(record: TokenRecord, state: CredentialState): ApiToken {
  const { _id, hash: _hash, former, nameKey: _key, isRevoked: _revoked, endsAt: _ends, ...fields } = record;
  return { id: _id, ...fields, state, ...(former && { formerSecretUntil: former.until }) };
}
