import { z } from 'zod';
import { revision, slug, text, timestamp } from '../common';
import { programArgs, programCommand } from '../settings/tool-server';
import { withheldBecause } from '../settings/withheld-variables';
import { serviceUrl, webUrl } from '../url';

/** Team chats that are reached by webhook, and channels of a community that are reached through its relay. */
export const adapterKind = z.enum(['slack', 'teams', 'community']).meta({ id: 'CommunicationAdapterKind' });

/** A secret by the name of a variable of the workers' environment. */
const environmentReference = z
  .string()
  .max(132)
  .regex(/^env:[A-Za-z_][A-Za-z0-9_]*$/, 'must be env: and the name of a variable')
  .superRefine((reference, context) => {
    const name = reference.slice('env:'.length);
    const reason = withheldBecause(name);
    if (reason !== undefined) {
      context.addIssue({ code: 'custom', message: `${name} ${reason}; adapters do not use it` });
    }
  });

const identifier = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]*$/, 'must be an id, of letters, digits and . _ : @ -');

const common = { displayName: text(100, 1), enabled: z.boolean() };

const teamChatFields = {
  ...common,
  /** Messages are posted to the webhook; team chats have no other mode. */
  deliveryMode: z.literal('webhook', { error: 'must be "webhook": team chats have no other mode' }),
  destinationType: z.enum(['channel', 'chat']),
  tenantId: identifier,
  teamId: identifier,
  channelId: identifier,
};
const clearableIds = {
  tenantId: teamChatFields.tenantId.nullable(),
  teamId: teamChatFields.teamId.nullable(),
  channelId: teamChatFields.channelId.nullable(),
};

const teamChatPut = <K extends 'slack' | 'teams'>(kind: K) =>
  z.strictObject({
    kind: z.literal(kind),
    ...z.object(teamChatFields).partial().shape,
    ...z.object(clearableIds).partial().shape,
    /** Write-only, since its path and its query are secrets. */
    webhookUrl: webUrl.nullable().optional(),
    /** Write-only; sent to the webhook as `Authorization: Bearer`. */
    credential: z
      .string()
      .min(1)
      .max(4_096)
      .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
      .nullable()
      .optional(),
  });

const relayWebSocketUrl = z
  .url({ protocol: /^wss?$/, error: 'must be a URL that begins with ws:// or wss://' })
  .max(2_000)
  .regex(/^[^\s\u0000-\u0020\u007f\\?#]*$/, 'must have no spaces, backslashes, query or fragment')
  .refine((value) => !/^wss?:\/\/[^/]*@/i.test(value), 'must not contain a user name or password');

/** The program that signs for the identity, so that no worker has its key. */
const signingCommand = z.strictObject({ executable: programCommand, args: programArgs }).meta({ id: 'SigningCommand' });

const communityFields = {
  ...common,
  relayHttpUrl: serviceUrl,
  relayWebSocketUrl: relayWebSocketUrl,
  /** The name that the relay has to report. */
  expectedCommunity: text(200, 1),
  /** Of the identity that the adapter writes as: x-only, of secp256k1 (BIP 340). */
  publicKey: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case'),
  /** The private key of the identity. */
  credentialRef: environmentReference,
  /** A tag of events by which the community recognises whose the identity is. */
  authTagRef: environmentReference,
  allowLocalhost: z.boolean(),
  allowPrivateNetwork: z.boolean(),
  command: signingCommand,
};

const communityPut = z.strictObject({
  kind: z.literal('community'),
  ...z.object(communityFields).partial().shape,
  relayWebSocketUrl: communityFields.relayWebSocketUrl.nullable().optional(),
  expectedCommunity: communityFields.expectedCommunity.nullable().optional(),
  credentialRef: communityFields.credentialRef.nullable().optional(),
  authTagRef: communityFields.authTagRef.nullable().optional(),
  command: communityFields.command.nullable().optional(),
});

/** Creates an adapter or changes it: what is absent stays, and `null` clears. */
export const adapterPut = z
  .discriminatedUnion('kind', [teamChatPut('slack'), teamChatPut('teams'), communityPut])
  .meta({ id: 'CommunicationAdapterPut' });
export type AdapterPut = z.output<typeof adapterPut>;
export type TeamChatPut = Extract<AdapterPut, { kind: 'slack' | 'teams' }>;
export type CommunityPut = Extract<AdapterPut, { kind: 'community' }>;

const recorded = { id: slug, revision, createdAt: timestamp, updatedAt: timestamp };

const teamChatAdapter = z.object({
  ...recorded,
  ...teamChatFields,
  kind: z.enum(['slack', 'teams']),
  tenantId: z.string().nullable(),
  teamId: z.string().nullable(),
  channelId: z.string().nullable(),
  /** Where people read the destination, as far as the ids name it. */
  destinationUrl: z.string().nullable(),
  webhookUrlConfigured: z.boolean(),
  /** Its origin: path and query are never returned. */
  webhookUrlRedacted: z.string().nullable(),
  hasCredential: z.boolean(),
});

const communityAdapter = z.object({
  ...recorded,
  ...communityFields,
  kind: z.literal('community'),
  relayWebSocketUrl: z.string().nullable(),
  expectedCommunity: z.string().nullable(),
  credentialRef: z.string().nullable(),
  authTagRef: z.string().nullable(),
  command: z.object({ executable: z.string(), args: z.array(z.string()) }).nullable(),
});

/** A connection to a team chat or a community, without what is secret of it. */
export const adapter = z
  .discriminatedUnion('kind', [teamChatAdapter, communityAdapter])
  .meta({ id: 'CommunicationAdapter' });
export type Adapter = z.infer<typeof adapter>;
export type TeamChatAdapter = z.infer<typeof teamChatAdapter>;
export type CommunityAdapter = z.infer<typeof communityAdapter>;

export const adapterList = z.object({ adapters: z.array(adapter) }).meta({ id: 'CommunicationAdapterList' });

/** What one check of a probe came to; `skipped` where an earlier one failed, or there is nothing to check. */
export const adapterCheck = z.object({
  id: z.string(),
  state: z.enum(['passed', 'failed', 'skipped']),
  message: z.string(),
});
export type AdapterCheck = z.infer<typeof adapterCheck>;

/** `unknown` until it was probed in its present revision. */
export const adapterStatus = z.enum(['healthy', 'degraded', 'unhealthy', 'unknown', 'unconfigured', 'disabled']);

/** What a probe found, which sends nothing. */
export const adapterProbe = z.object({
  status: adapterStatus,
  reasonCode: z.string(),
  observedCommunity: z.string().nullable(),
  checks: z.array(adapterCheck).max(20),
  /** What is known of what was reached, such as its software and its limits. */
  facets: z.record(z.string(), z.string()),
  checkedAt: timestamp,
});
export type AdapterProbe = z.infer<typeof adapterProbe>;

export const adapterHealth = z
  .object({
    adapterId: slug,
    kind: adapterKind,
    enabled: z.boolean(),
    status: adapterStatus,
    reasonCode: z.string(),
    /** Without path and query. */
    endpoints: z.array(z.object({ name: z.string(), url: z.string() })).max(3),
    expectedCommunity: z.string().nullable(),
    observedCommunity: z.string().nullable(),
    /** SHA-256 of the public key of the identity. */
    publicKeyFingerprint: z.string().nullable(),
    /** The revision of the adapter that was probed last. */
    probeRevision: revision.nullable(),
    checkedAt: timestamp.nullable(),
    checks: z.array(adapterCheck).max(20),
    runtime: z.object({
      pendingDeliveries: z.number().int(),
      lastDeliveredAt: timestamp.nullable(),
      lastFailure: z.object({ at: timestamp, reasonCode: z.string(), message: z.string() }).nullable(),
      facets: z.record(z.string(), z.string()),
    }),
  })
  .meta({ id: 'CommunicationAdapterHealth' });
export type AdapterHealth = z.infer<typeof adapterHealth>;
