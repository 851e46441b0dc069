import type { AdapterPut, CommunityPut, TeamChatPut } from '../../../contracts/chat/adapter';
import { redactedUrl } from '../../../domain/communication/destination';
import type { ApiEnvironment } from '../../../platform/config/part-settings';
import { conflict, type FieldIssue, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { createRedactor } from '../../../platform/log/redact';
import {
  type AdapterFields,
  type AdapterRecord,
  type CommunityFields,
  sealContext,
  type TeamChatFields,
} from '../../../stores/chat/adapter-store';
import type { CredentialSeal, SealedCredential } from '../../../stores/system/credential-key-store';
import { plainField } from '../../tasks/tasks/plain-text';

/** What becomes of a secret: sealed again, cleared, or as it is. */
export type SealedChange = SealedCredential | null | undefined;

export interface SealedSecrets {
  webhookUrl?: SealedChange;
  credential?: SealedChange;
}

/** Seals the secrets of a request; one that is the stored one stays as it is sealed, so that the revision stays too. */
export async function sealSecrets(
  seal: CredentialSeal,
  body: AdapterPut,
  { id, current }: { id: string; current: AdapterRecord | undefined },
): Promise<SealedSecrets> {
  if (body.kind === 'community') {
    return {};
  }
  const stored = current && current.kind !== 'community' ? current : undefined;
  const sealed = async (field: 'webhookUrl' | 'credential'): Promise<SealedChange> => {
    const value = body[field];
    if (value === null || value === undefined) {
      return value;
    }
    const context = sealContext(id, field);
    const box = stored?.[field];
    return box && (await seal.open(box, context)) === value ? box : seal.seal(value, context);
  };
  return { webhookUrl: await sealed('webhookUrl'), credential: await sealed('credential') };
}

const redact = createRedactor();

/** An option whose value is a credential, or a key itself. */
const credentialLike =
  /^(?:nsec1[a-z0-9]+|[0-9a-f]{64})$|(?:^|[-_/])(?:tokens?|secrets?|passw(?:or)?d|passphrase|api[-_]?key|private[-_]?key|nsec|credentials?)(?:[=:]|$)/i;

/** @throws AppError 400 for what no worker would call, and for what is a credential itself */
export function assertServable(
  body: AdapterPut,
  { BOARD_WEBHOOK_ALLOW_PRIVATE: allowPrivate }: Pick<ApiEnvironment, 'BOARD_WEBHOOK_ALLOW_PRIVATE'>,
): void {
  const issues: FieldIssue[] = [];
  if (body.kind === 'community') {
    (body.command?.args ?? []).forEach((arg, index) => {
      if (redact(arg) !== arg || credentialLike.test(arg)) {
        issues.push({
          path: `command.args.${index}`,
          message: 'must not be a credential; the command reads it itself',
        });
      }
    });
  } else if (body.webhookUrl?.startsWith('http:') === true && !allowPrivate) {
    const message = 'must begin with https://, unless BOARD_WEBHOOK_ALLOW_PRIVATE is true';
    issues.push({ path: 'webhookUrl', message });
  }
  if (issues.length > 0) {
    throw validationError(issues);
  }
}

/**
 * What a request makes of an adapter: what is absent stays, and `null` clears.
 *
 * @throws AppError 400 for a new adapter without what it needs, 409 for one of another kind
 */
export function configured(
  id: string,
  body: AdapterPut,
  { current, sealed }: { current: AdapterRecord | undefined; sealed: SealedSecrets },
): AdapterFields {
  if (body.kind === 'community') {
    return communityFields(body, { id, before: current && ofKind(current, body) });
  }
  const before = current && ofKind(current, body);
  assertCredentialStays(body, before);
  return teamChatFields(body, { id, before, sealed });
}

function ofKind<K extends AdapterPut['kind']>(
  current: AdapterRecord,
  { kind }: { kind: K },
): Extract<AdapterRecord, { kind: K }> {
  if (current.kind !== kind) {
    const message = `The adapter ${current.id} is of the kind ${current.kind}. Use another id for one of the kind ${kind}.`;
    throw conflict(message, { adapterId: current.id, kind: current.kind }, 'ADAPTER_KIND');
  }
  return current as Extract<AdapterRecord, { kind: K }>;
}

/** @throws AppError 400 where the stored credential would be sent to another server than the one that it was given for */
function assertCredentialStays(body: TeamChatPut, before: TeamChatFields | undefined): void {
  const { webhookUrl, credential } = body;
  if (!before?.credential || credential !== undefined || webhookUrl === undefined) {
    return;
  }
  const originOf = (url: string | null) => url && new URL(url).origin;
  if (originOf(webhookUrl) !== originOf(before.webhookUrlRedacted)) {
    const message = 'must be stated again, or cleared with null: webhookUrl has another origin';
    throw validationError([{ path: 'credential', message }]);
  }
}

const newTeamChat = {
  enabled: true,
  deliveryMode: 'webhook',
  destinationType: 'channel',
  tenantId: null,
  teamId: null,
  channelId: null,
  webhookUrlRedacted: null,
} as const;

function teamChatFields(
  body: TeamChatPut,
  { id, sealed, ...current }: { id: string; before: TeamChatFields | undefined; sealed: SealedSecrets },
): TeamChatFields {
  const before: TeamChatFields = current.before ?? { ...newTeamChat, kind: body.kind, displayName: id };
  const { webhookUrl, credential } = sealed;
  return {
    kind: before.kind,
    displayName: body.displayName === undefined ? before.displayName : plainField(body.displayName, 'displayName'),
    enabled: body.enabled ?? before.enabled,
    deliveryMode: 'webhook',
    destinationType: body.destinationType ?? before.destinationType,
    tenantId: changed(body.tenantId, before.tenantId),
    teamId: changed(body.teamId, before.teamId),
    channelId: changed(body.channelId, before.channelId),
    webhookUrlRedacted:
      typeof body.webhookUrl === 'string'
        ? redactedUrl(body.webhookUrl)
        : changed(body.webhookUrl, before.webhookUrlRedacted),
    ...compact({
      webhookUrl: changed(webhookUrl, before.webhookUrl) ?? undefined,
      credential: changed(credential, before.credential) ?? undefined,
    }),
  };
}

function communityFields(
  body: CommunityPut,
  { id, before }: { id: string; before: CommunityFields | undefined },
): CommunityFields {
  const relayHttpUrl = body.relayHttpUrl ?? before?.relayHttpUrl;
  const publicKey = body.publicKey ?? before?.publicKey;
  if (relayHttpUrl === undefined || publicKey === undefined) {
    const missing = { relayHttpUrl, publicKey };
    const paths = Object.entries(missing).flatMap(([path, value]) => (value === undefined ? [path] : []));
    throw validationError(paths.map((path) => ({ path, message: 'is required for a new adapter' })));
  }
  const fields: CommunityFields = {
    kind: 'community',
    displayName:
      body.displayName === undefined ? (before?.displayName ?? id) : plainField(body.displayName, 'displayName'),
    enabled: body.enabled ?? before?.enabled ?? true,
    relayHttpUrl,
    relayWebSocketUrl: changed(body.relayWebSocketUrl, before?.relayWebSocketUrl) ?? null,
    expectedCommunity: changed(body.expectedCommunity, before?.expectedCommunity) ?? null,
    publicKey,
    credentialRef: changed(body.credentialRef, before?.credentialRef) ?? null,
    authTagRef: changed(body.authTagRef, before?.authTagRef) ?? null,
    allowLocalhost: body.allowLocalhost ?? before?.allowLocalhost ?? false,
    allowPrivateNetwork: body.allowPrivateNetwork ?? before?.allowPrivateNetwork ?? false,
    command: changed(body.command, before?.command) ?? null,
  };
  assertProtected(fields);
  return fields;
}

/** Messages leave the machine and its networks only with TLS. */
function assertProtected({ relayHttpUrl, relayWebSocketUrl, ...allowed }: CommunityFields): void {
  if (allowed.allowLocalhost || allowed.allowPrivateNetwork) {
    return;
  }
  const message = 'must use TLS, unless allowLocalhost or allowPrivateNetwork is true';
  const issues = [
    ...(relayHttpUrl.startsWith('https:') ? [] : [{ path: 'relayHttpUrl', message }]),
    ...(relayWebSocketUrl?.startsWith('wss:') === false ? [{ path: 'relayWebSocketUrl', message }] : []),
  ];
  if (issues.length > 0) {
    throw validationError(issues);
  }
}

/** The stated value, `null` included, or the one before. */
const changed = <T, B>(stated: T | undefined, before: B): T | B => (stated === undefined ? before : stated);
