import type { AuthContext } from '../../platform/http/auth/auth';
import type { CredentialVerifier } from '../../platform/http/auth/credentials';
import { compact } from '../../platform/json/compact';
import type { DeviceRecord } from '../../stores/identity/device-store';
import type { TokenRecord } from '../../stores/identity/token-store';
import type { ApiContext } from '../context';
import { currentAuthority } from './credential-state';

type VerifierStores = Pick<ApiContext, 'apiTokens' | 'devices' | 'users' | 'workspaces'>;

/** The actor of a token: the agent or service of its name, or its user. */
const tokenActor = ({ subject, name, userId }: TokenRecord): string =>
  `${subject}:${subject === 'user' ? userId : name}`;

/** Verifies API tokens, as a bearer token or a key; the record and its membership are read on each use. */
export const tokenVerifier =
  (stores: VerifierStores): CredentialVerifier =>
  async ({ carrier, value }) => {
    const presented = carrier === 'cookie' ? undefined : await stores.apiTokens.presented(value);
    const authority = presented && (await currentAuthority(stores, presented.record));
    if (!authority) {
      return undefined;
    }
    const { record, isFormer } = presented;
    await stores.apiTokens.noteUse(record);
    const { _id: tokenId, workspaceId, userId, membershipId, subject, name, capabilities } = record;
    return {
      ...authority,
      workspaceId,
      userId,
      membershipId,
      actorType: subject,
      authMethod: 'api-key',
      tokenName: name,
      tokenId,
      ...(isFormer && { isFormerSecret: true }),
      ...(capabilities && { capabilities }),
      actor: tokenActor(record),
    };
  };

/** Verifies sessions of paired devices, as a bearer token; the record and its membership are read on each use. */
export const deviceVerifier =
  (stores: VerifierStores): CredentialVerifier =>
  async ({ carrier, value }) => {
    const record = carrier === 'bearer' ? await stores.devices.presented(value) : undefined;
    const authority = record && (await currentAuthority(stores, record));
    if (!authority) {
      return undefined;
    }
    await stores.devices.noteUse(record);
    return { ...authority, ...deviceContext(record) };
  };

const deviceContext = (record: DeviceRecord): Omit<AuthContext, 'role' | 'permissions' | 'degradedReason'> =>
  compact({
    workspaceId: record.workspaceId,
    userId: record.userId,
    membershipId: record.membershipId,
    actorType: 'device' as const,
    authMethod: 'device-session' as const,
    // The device proved who it is when it was paired.
    authenticatedAt: record.createdAt,
    tokenName: record.deviceName,
    actor: `device:${record.deviceName}`,
    deviceSessionId: record._id,
    deviceId: record.deviceId,
    clientId: record.clientId,
    clientMode: record.clientMode,
    capabilities: record.capabilities,
  });
