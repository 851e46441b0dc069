import type { CommunityChannel } from '../../contracts/chat/adapter-channel';
import type { MappingTarget, PollReport } from '../../contracts/chat/adapter-delivery';
import type { CommunityEvent } from '../../contracts/chat/community-event';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import { eventKinds, tagOf } from '../../providers/communication/community/event';
import type { CommunityRelay } from '../../providers/communication/community/relay';
import { ingestReply, type IngestStores, plainExternal, replyMessageId } from '../../stores/chat/ingest-reply';
import type { Stores } from '../../stores/open-stores';
import type { Community } from '../shared/adapter-connections';

export type PollStores = IngestStores & Pick<Stores, 'adapterChannels'>;

/** Who brings what a poll reads. */
const actor = 'system:communication';
/** Events of one request, and the most requests of one poll. */
const pageSize = 100;
const maxPages = 20;
/** Clocks of authors differ: what is dated this much before the newest message may come after it, in seconds. */
const overlapSeconds = 300;

type Counts = Pick<PollReport, 'ingested' | 'duplicates' | 'skipped' | 'truncated'>;

/** Reads what is new in the mapped channel, and adds it to the squad chat. Repeated, it adds nothing twice. */
export async function pollChannel(
  stores: PollStores,
  { relay }: Pick<Community, 'relay'>,
  { adapterId, publicKey, now }: { adapterId: string; publicKey: string; now: Date },
): Promise<Omit<PollReport, 'polledAt'>> {
  const counts: Counts = { ingested: 0, duplicates: 0, skipped: 0, truncated: false };
  const channel = await stores.adapterChannels.mapped(adapterId);
  if (!channel) {
    return { channels: 0, ...counts };
  }
  const { channelId, polledUntil } = channel;
  const newest = Math.floor(now.getTime() / 1000);
  const { events, truncated } = await readNew(relay, { channelId, polledUntil, newest });
  counts.truncated = truncated;
  let until = polledUntil ?? 0;
  for (const event of events) {
    const isMessage = event.kind === eventKinds.message && tagOf(event, 'h') === channelId;
    const isOurs = event.pubkey === publicKey;
    if (!isMessage || isOurs || plainExternal(event.content) === '') {
      counts.skipped += 1;
    } else {
      const { duplicate } = await ingest(stores, event, { adapterId, channelId });
      counts[duplicate ? 'duplicates' : 'ingested'] += 1;
    }
    // What is dated in the future does not keep later messages from being read.
    until = Math.max(until, Math.min(event.created_at, newest));
  }
  await stores.adapterChannels.advance(adapterId, channelId, until);
  return { channels: 1, ...counts };
}

/** What is new in a channel, the oldest first; of one that was never read, the newest page. */
async function readNew(
  relay: CommunityRelay,
  { channelId, polledUntil, newest }: Pick<CommunityChannel, 'channelId' | 'polledUntil'> & { newest: number },
) {
  const filter = { kinds: [eventKinds.message], '#h': [channelId], limit: pageSize };
  const since = polledUntil === null ? undefined : Math.max(0, polledUntil - overlapSeconds);
  const read = new Map<string, CommunityEvent>();
  let truncated = false;
  // Relays return the newest first: what is older follows page by page. What is dated in the future waits for its time.
  for (let until = newest + overlapSeconds, page = 1; ; page += 1) {
    const { events, received } = await relay.query({ ...filter, until, ...compact({ since }) });
    const before = read.size;
    events.forEach((event) => read.set(event.id, event));
    if (since === undefined || received < pageSize) {
      break;
    }
    if (page === maxPages || read.size === before) {
      truncated = true;
      break;
    }
    until = Math.min(...events.map(({ created_at: at }) => at));
  }
  return { events: inOrder(read), truncated };
}

/** By time, each event after the one that it replies to. */
function inOrder(read: ReadonlyMap<string, CommunityEvent>): CommunityEvent[] {
  const ordered = new Set<CommunityEvent>();
  const visit = (event: CommunityEvent | undefined, depth = 0): void => {
    if (event && !ordered.has(event) && depth < maxPages * pageSize) {
      visit(read.get(parentOf(event) ?? ''), depth + 1);
      ordered.add(event);
    }
  };
  [...read.values()].sort((a, b) => a.created_at - b.created_at).forEach((event) => visit(event));
  return [...ordered];
}

const parentOf = (event: CommunityEvent): string | undefined => tagOf(event, 'e') ?? tagOf(event, 'q');

async function ingest(
  stores: PollStores,
  event: CommunityEvent,
  { adapterId, channelId }: { adapterId: string; channelId: string },
) {
  const parent = parentOf(event);
  const root = parent === undefined ? undefined : await stores.squad.get(replyMessageId(adapterId, parent));
  const target: MappingTarget = { kind: 'squad', ...compact({ squadMessageId: root?._id }) };
  return ingestReply(stores, {
    adapterId,
    channelId,
    externalThreadId: parent ?? event.id,
    externalReplyId: event.id,
    actor: event.pubkey.slice(0, 16),
    message: cut(event.content, 5_000),
    target,
    receivedAt: new Date(event.created_at * 1000).toISOString(),
    createdBy: actor,
  });
}
