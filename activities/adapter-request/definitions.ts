import { definitionContent, type StoredDefinition } from '../../contracts/chat/adapter-definition';
import type { CommunityEvent } from '../../contracts/chat/community-event';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';
import { eventKinds, tagOf } from '../../providers/communication/community/event';
import { maxDefinitions } from '../../stores/chat/adapter-definition-store';
import { externalKey } from '../../stores/chat/adapter-mapping-store';
import type { Community } from '../shared/adapter-connections';

/** What the name of an event begins with that defines an agent (NIP-78). */
const prefix = 'agent-definition/';
/** Events that are read for them. */
const limit = 500;

/** Definitions of agents that members of the community publish, the newest of each. */
export async function readDefinitions({ relay }: Pick<Community, 'relay'>): Promise<StoredDefinition[]> {
  const { events } = await relay.query({ kinds: [eventKinds.application], limit });
  const newest = new Map<string, [CommunityEvent, StoredDefinition]>();
  for (const event of events) {
    const definition = definitionOf(event);
    const before = definition && newest.get(definition.id)?.[0];
    if (definition && (!before || isNewer(event, before))) {
      newest.set(definition.id, [event, definition]);
    }
  }
  return [...newest.values()]
    .map(([, definition]) => definition)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, maxDefinitions);
}

/** Of two with one name the later one counts, and of the same second the one with the lower id (NIP-01). */
const isNewer = (one: CommunityEvent, other: CommunityEvent): boolean =>
  one.created_at > other.created_at || (one.created_at === other.created_at && one.id < other.id);

function definitionOf(event: CommunityEvent): StoredDefinition | undefined {
  const key = tagOf(event, 'd') ?? '';
  const content = definitionContent.safeParse(parsed(event.content));
  if (event.kind !== eventKinds.application || !key.startsWith(prefix) || !content.success) {
    return undefined;
  }
  const { name, description, instructions } = content.data;
  const texts = compact({
    name: cut(printable(name).trim(), 100),
    description: description === undefined ? undefined : cut(printable(description), 1_000),
    instructions: printable(instructions),
  });
  return {
    id: `definition_${externalKey(event.pubkey, key)}`,
    key: cut(printable(key.slice(prefix.length)), 200),
    author: event.pubkey,
    ...texts,
    digest: digestOf(texts),
    publishedAt: new Date(event.created_at * 1000).toISOString(),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
