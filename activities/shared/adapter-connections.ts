import { authTag } from '../../contracts/chat/community-event';
import type { RunProgram } from '../../platform/processes/programs/program-runner';
import { openRelay } from '../../providers/communication/community/open-relay';
import type { CommunityRelay, RelaySettings } from '../../providers/communication/community/relay';
import { commandSigner, keySigner, type SignEvent, SigningError } from '../../providers/communication/community/signer';
import type { Unacknowledged } from '../../providers/communication/outcome';
import type { TeamChatWebhook } from '../../providers/communication/team-chat';
import {
  type AdapterRecord,
  type CommunityFields,
  sealContext,
  type TeamChatFields,
} from '../../stores/chat/adapter-store';
import type { Recorded } from '../../stores/port/configured-records';
import type { CredentialSeal } from '../../stores/system/credential-key-store';

export interface AdapterConnectionDependencies {
  credentialSeal: Pick<CredentialSeal, 'open'>;
  /** Of this worker: credentials are read from it, and are stored nowhere. */
  environment: NodeJS.ProcessEnv;
  /** Whether webhooks may be on private networks, and without TLS. */
  allowPrivate: boolean;
  runProgram: RunProgram;
  now: () => Date;
}

/** A community, with what this worker has to write there. */
export interface Community {
  relay: CommunityRelay;
  settings: RelaySettings;
  sign: SignEvent | undefined;
  authTag: string[] | undefined;
}

/** How long the other side of an adapter may take, in milliseconds. */
const timeoutMs = 10_000;

/** A problem of the configuration, which an operator may mend while a message waits. */
const problem = (reasonCode: string, error: string): Unacknowledged => ({
  acknowledged: false,
  reasonCode,
  error,
  isFinal: false,
});

/** Opens the other sides of adapters on the worker that calls them. */
export function createAdapterConnections(deps: AdapterConnectionDependencies) {
  const { credentialSeal, environment, allowPrivate, runProgram, now } = deps;

  /** The value of `env:NAME`. */
  function valueOf(reference: string, name: string): string | Unacknowledged {
    const variable = reference.slice('env:'.length);
    const value = environment[variable]?.trim();
    return value === undefined || value === ''
      ? problem('credential-missing', `The worker has no value of ${variable}, the ${name}.`)
      : value;
  }

  function signerOf(record: CommunityFields): SignEvent | undefined | Unacknowledged {
    const { publicKey, credentialRef, command } = record;
    if (command !== null) {
      return commandSigner(publicKey, command, runProgram);
    }
    const value = credentialRef === null ? undefined : valueOf(credentialRef, 'credential of the identity');
    if (typeof value !== 'string') {
      return value;
    }
    try {
      return keySigner(publicKey, value);
    } catch (error) {
      if (error instanceof SigningError) {
        return problem(error.reasonCode, error.message);
      }
      throw error;
    }
  }

  function authTagOf({ authTagRef }: CommunityFields): string[] | undefined | Unacknowledged {
    const value = authTagRef === null ? undefined : valueOf(authTagRef, 'tag of the identity');
    if (typeof value !== 'string') {
      return value;
    }
    const tag = authTag.safeParse(parsed(value));
    return tag.success
      ? tag.data
      : problem('auth-tag-invalid', 'The variable that authTagRef names is no JSON array that begins with "auth".');
  }

  return {
    /** The webhook of a team chat with its secrets, or why it cannot be called. */
    async teamChat(record: TeamChatFields & Recorded): Promise<TeamChatWebhook | Unacknowledged> {
      const { id, kind } = record;
      if (!record.webhookUrl) {
        return problem('unconfigured', 'The adapter has no webhookUrl.');
      }
      const url = await credentialSeal.open(record.webhookUrl, sealContext(id, 'webhookUrl'));
      const credential =
        record.credential && (await credentialSeal.open(record.credential, sealContext(id, 'credential')));
      if (url === undefined || (record.credential && credential === undefined)) {
        return problem('credential-unreadable', 'The credentials were sealed with another key: configure them again.');
      }
      if (!allowPrivate && !url.startsWith('https:')) {
        const error = 'The webhook has an address without TLS, which BOARD_WEBHOOK_ALLOW_PRIVATE has to allow.';
        return { ...problem('refused-address', error), isFinal: true };
      }
      return { kind, url, credential, allowPrivate, timeoutMs, now };
    },

    /** The relay of a community, or why it cannot be used. */
    community(record: CommunityFields): Community | Unacknowledged {
      const sign = signerOf(record);
      const tag = authTagOf(record);
      if (typeof sign === 'object') {
        return sign;
      }
      if (tag !== undefined && !Array.isArray(tag)) {
        return tag;
      }
      const settings: RelaySettings = {
        httpUrl: record.relayHttpUrl,
        webSocketUrl: record.relayWebSocketUrl,
        sign,
        allowLocalhost: record.allowLocalhost,
        allowPrivateNetwork: record.allowPrivateNetwork,
        timeoutMs,
        now,
      };
      return { relay: openRelay(settings), settings, sign, authTag: tag };
    },
  };
}

export type AdapterConnections = ReturnType<typeof createAdapterConnections>;

/** Why a delivery cannot be attempted, of an adapter as it is now. */
export function unusable(record: AdapterRecord | undefined): Unacknowledged | undefined {
  return record?.enabled === true
    ? undefined
    : { ...problem('adapter-disabled', 'The adapter is disabled or disconnected.'), isFinal: true };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
