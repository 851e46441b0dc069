import { z } from 'zod';
import { text, timestamp } from '../common';
import { permission, role } from '../permissions';
import { listPage } from '../query';
import { credentialState, scopes } from './token';
import { membershipId, workspaceId } from './workspace';

export const deviceSessionId = z
  .string()
  .regex(/^device_[0-9a-f]{24}$/, 'must look like device_ and 24 hexadecimal digits')
  .meta({ id: 'DeviceSessionId' });

/** What kind of client a device runs; `desktop-local` and `cli` may control runs on this machine. */
export const clientMode = z
  .enum(['desktop-local', 'desktop-remote', 'mobile', 'pwa', 'cli', 'mcp', 'server'])
  .meta({ id: 'ClientMode' });

const capability = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9:._-]*$/, 'lower-case letters, digits, colon, dot, dash and underscore');
const capabilities = z
  .array(capability)
  .max(20)
  .transform((names) => [...new Set(names)]);

/** Name that a client gives itself or its device. */
const clientName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[\x21-\x7e]+$/, 'printable ASCII characters without spaces');

const base64url = (bytes: number) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((bytes * 4) / 3)}}$`), `${bytes} bytes as base64url`);

export const pairingCodeCreate = z
  .strictObject({ deviceName: text(100, 1), clientMode, capabilities, scopes, role })
  .meta({ id: 'PairingCodeCreate' });
export type PairingCodeCreate = z.output<typeof pairingCodeCreate>;

/** The only response that ever has the code. */
export const pairingCode = z
  .object({
    id: z.string(),
    workspaceId,
    deviceName: z.string(),
    clientMode,
    capabilities: z.array(z.string()),
    scopes: z.array(permission),
    role,
    createdAt: timestamp,
    expiresAt: timestamp,
    code: z.string(),
    /** The code and the address of the service in one link, for a device to open. */
    pairingLink: z.string(),
  })
  .meta({ id: 'PairingCode' });

/**
 * What a device sends to redeem a code. `signature` is that of `publicKey` (Ed25519) over the canonical JSON (RFC 8785) of all
 * other fields.
 */
export const pairingExchange = z
  .strictObject({
    code: z.string().min(1).max(200),
    clientId: clientName,
    clientMode,
    capabilities: z.array(capability).max(20),
    deviceId: clientName,
    scopes: z.array(permission).min(1).max(permission.options.length),
    role,
    workspace: workspaceId,
    /** Never used before. */
    nonce: z
      .string()
      .min(16)
      .max(128)
      .regex(/^[A-Za-z0-9_-]+$/, 'letters, digits, dash and underscore'),
    /** At most two minutes from the clock of the service. */
    signedAt: timestamp,
    publicKey: base64url(32),
    signature: base64url(64),
  })
  .meta({ id: 'PairingExchange' });
export type PairingExchange = z.output<typeof pairingExchange>;

/** A paired device. It expires and is not renewed: the device is paired again. */
export const deviceSession = z
  .object({
    id: deviceSessionId,
    workspaceId,
    userId: z.string(),
    membershipId,
    deviceName: z.string(),
    deviceId: z.string(),
    clientId: z.string(),
    clientMode,
    capabilities: z.array(z.string()),
    role,
    /** As they were approved; what of them the member's role permits now is in `…/test`. */
    scopes: z.array(permission),
    /** SHA-256 of the key that the device has signed with. */
    keyFingerprint: z.string(),
    state: credentialState,
    createdAt: timestamp,
    expiresAt: timestamp,
    /** At most a minute old. */
    lastUsedAt: timestamp.optional(),
    testedAt: timestamp.optional(),
    revokedAt: timestamp.optional(),
    revokedBy: z.string().optional(),
  })
  .meta({ id: 'DeviceSession' });
export type DeviceSession = z.infer<typeof deviceSession>;

/** The only response that ever has the token of the session. */
export const pairedDevice = deviceSession.extend({ token: z.string() }).meta({ id: 'PairedDevice' });

/** What the session may do now, as its next request would find. */
export const deviceTest = z
  .object({
    session: deviceSession,
    accepted: z.boolean(),
    role: role.optional(),
    permissions: z.array(z.string()),
    /** Why it may do less than was approved. */
    degradedReason: z.string().optional(),
  })
  .meta({ id: 'DeviceTest' });

export const deviceParams = z.strictObject({ workspaceId, id: deviceSessionId });
export const deviceQuery = z.strictObject(listPage(50, 200)).meta({ id: 'DeviceSessionQuery' });
