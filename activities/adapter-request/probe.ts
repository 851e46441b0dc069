import type { AdapterCheck, AdapterProbe } from '../../contracts/chat/adapter';
import { compact } from '../../platform/json/compact';
import { eventKinds } from '../../providers/communication/community/event';
import { readInformation } from '../../providers/communication/community/http-relay';
import { RelayError } from '../../providers/communication/community/relay';
import { SigningError } from '../../providers/communication/community/signer';
import { reachTeamChat } from '../../providers/communication/team-chat';
import type { CommunityFields, TeamChatFields } from '../../stores/chat/adapter-store';
import type { Recorded } from '../../stores/port/configured-records';
import type { AdapterConnections, Community } from '../shared/adapter-connections';

const passed = (id: string, message: string): AdapterCheck => ({ id, state: 'passed', message });
const failed = (id: string, message: string): AdapterCheck => ({ id, state: 'failed', message });
const skipped = (id: string, message: string): AdapterCheck => ({ id, state: 'skipped', message });

type Found = Omit<AdapterProbe, 'checkedAt'>;
type Result = Pick<Found, 'status' | 'reasonCode' | 'checks'> & Partial<Found>;

const found = (result: Result): Found => ({ observedCommunity: null, facets: {}, ...result });

/** What is wrong when a check failed. */
const unhealthy = (reasonCode: string, checks: AdapterCheck[]): Result => ({
  status: 'unhealthy',
  reasonCode,
  checks,
});

/** Finds out whether a team chat can be reached, and sends nothing to it. */
export async function probeTeamChat(
  connections: AdapterConnections,
  record: TeamChatFields & Recorded,
): Promise<Found> {
  const webhook = await connections.teamChat(record);
  if ('reasonCode' in webhook) {
    return found(unhealthy(webhook.reasonCode, [failed('credentials', webhook.error)]));
  }
  const credentials = passed('credentials', 'The webhook and its credential can be read.');
  const reached = await reachTeamChat(webhook);
  if ('reasonCode' in reached) {
    return found(unhealthy(reached.reasonCode, [credentials, failed('reachable', reached.error)]));
  }
  const checks = [
    credentials,
    passed('reachable', `Something responds at the address, with ${reached.httpStatus}.`),
    skipped('accepts', 'Only a message shows that the team chat takes messages; a probe sends none.'),
  ];
  return found({ status: 'healthy', reasonCode: 'reachable', checks, facets: { transport: 'https' } });
}

/** Finds out whether a community is the expected one and can be read and written, and writes nothing there. */
export async function probeCommunity(connections: AdapterConnections, record: CommunityFields): Promise<Found> {
  const community = connections.community(record);
  if ('reasonCode' in community) {
    return found(unhealthy(community.reasonCode, [failed('credentials', community.error)]));
  }
  const checks: AdapterCheck[] = [];
  const facets: Record<string, string> = {
    transport: record.relayWebSocketUrl === null ? 'http' : 'websocket',
    signing: signingOf(record),
  };
  let observedCommunity: string | null = null;
  const fail = (reasonCode: string, id: string, message: string): Found =>
    found({ ...unhealthy(reasonCode, [...checks, failed(id, message)]), observedCommunity, facets });
  try {
    const information = await readInformation(community.settings);
    observedCommunity = information.name?.slice(0, 200) ?? null;
    Object.assign(
      facets,
      compact({
        software: information.software?.slice(0, 200),
        version: information.version?.slice(0, 100),
        protocols: information.supported_nips?.slice(0, 50).join(', '),
      }),
    );
    checks.push(passed('relay-information', 'The relay reports what it is.'));
  } catch (error) {
    return error instanceof RelayError ? fail(error.reasonCode, 'relay-information', error.message) : rethrow(error);
  }
  if (record.expectedCommunity === null) {
    checks.push(skipped('community', 'No community is expected.'));
  } else if (observedCommunity === record.expectedCommunity) {
    checks.push(passed('community', 'It is the expected community.'));
  } else {
    return fail('community-mismatch', 'community', 'The relay is of another community than expectedCommunity.');
  }
  try {
    checks.push(await identityCheck(community, record.publicKey));
  } catch (error) {
    return error instanceof SigningError ? fail(error.reasonCode, 'identity', error.message) : rethrow(error);
  }
  try {
    await community.relay.query({ kinds: [eventKinds.message], limit: 1 });
    checks.push(passed('read', 'Events can be read.'));
  } catch (error) {
    return error instanceof RelayError ? fail(error.reasonCode, 'read', error.message) : rethrow(error);
  }
  const isReadOnly = community.sign === undefined;
  return found({
    status: isReadOnly ? 'degraded' : 'healthy',
    reasonCode: isReadOnly ? 'read-only' : 'verified',
    checks,
    observedCommunity,
    facets,
  });
}

function signingOf({ command, credentialRef }: CommunityFields): string {
  if (command !== null) {
    return 'command';
  }
  return credentialRef === null ? 'none' : 'key';
}

/** Has something signed that is sent nowhere. */
async function identityCheck({ sign }: Pick<Community, 'sign'>, publicKey: string): Promise<AdapterCheck> {
  if (!sign) {
    return skipped('identity', 'Without credentialRef and command messages can be read only.');
  }
  const probe = { kind: eventKinds.relayAuth, created_at: 0, tags: [['relay', 'probe:']], content: '' };
  const { pubkey } = await sign(probe);
  return pubkey === publicKey
    ? passed('identity', 'What signs is the identity of publicKey.')
    : failed('identity', 'What signs is another identity than publicKey.');
}

function rethrow(error: unknown): never {
  throw error;
}
