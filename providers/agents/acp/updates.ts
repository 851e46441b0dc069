import { z } from 'zod';
import type { RunEventKind } from '../../../contracts/runs/event';
import { cut } from '../../../platform/text/cut';

/** An event as it is recorded; `itemId` is the agent's own name of the message or tool call. */
export interface UpdateEvent {
  kind: RunEventKind;
  payload: Record<string, unknown>;
  itemId?: string;
}

const name = z.string().max(4096);
const chunk = z.object({
  content: z.looseObject({ type: z.string(), text: z.string().optional() }),
  messageId: z.string().nullish(),
});
const location = z.looseObject({ path: z.string() });
const toolContent = z.looseObject({ type: z.string(), path: z.string().optional() });
const toolCall = z.looseObject({
  toolCallId: name,
  title: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.string().nullish(),
  content: z.array(toolContent).nullish(),
  locations: z.array(location).nullish(),
  rawInput: z.unknown().optional(),
});
const plan = z.looseObject({ entries: z.array(z.looseObject({ content: z.string(), status: z.string() })) });
const usage = z.looseObject({
  used: z.number(),
  size: z.number(),
  cost: z.looseObject({ amount: z.number(), currency: z.string() }).nullish(),
});
const notice = z.looseObject({ message: z.string().optional(), severity: z.string().optional() });

const sessionUpdate = z.looseObject({ update: z.looseObject({ sessionUpdate: z.string() }) });

/** Updates that do not concern the work: menus, modes and titles of a user interface. */
const silent = new Set([
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'user_message_chunk',
]);

/** Words are published after this many characters, or this many milliseconds. */
export const deltas = { characters: 2_000, afterMs: 500 } as const;
/** The most of one message that is stored to be published whole. */
const longestMessage = 20_000;

/** A message that the agent is still saying. */
interface OpenMessage {
  kind: 'message' | 'thought';
  id: string | undefined;
  whole: string;
  /** The part that has not been published yet. */
  unpublished: string;
}

/**
 * Turns the updates of a session into events: an agent's messages come in pieces of a few letters, which are published
 * together, and once more as a whole when the message is over.
 */
export class SessionUpdates {
  private open: OpenMessage | undefined;
  private openedAt = 0;
  private readonly tools = new Map<string, string>();
  /** The last whole message of the agent. */
  lastMessage = '';

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** The events that the notification completes; `undefined` when it is none that is known. */
  take(params: unknown): UpdateEvent[] | undefined {
    const parsed = sessionUpdate.safeParse(params);
    if (!parsed.success) {
      return undefined;
    }
    const { update } = parsed.data;
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return read(chunk, update, (data) => this.words('message', data));
      case 'agent_thought_chunk':
        return read(chunk, update, (data) => this.words('thought', data));
      case 'tool_call':
      case 'tool_call_update':
        return read(toolCall, update, (data) => [...this.finish(), ...this.tool(data)]);
      case 'plan':
        return read(plan, update, (data) => [...this.finish(), planEvent(data)]);
      case 'usage_update':
        return read(usage, update, (data) => [usageEvent(data)]);
      case 'notice':
        return read(notice, update, ({ message, severity }) => [
          { kind: 'progress', payload: { message: message ?? 'Notice', severity } },
        ]);
      default:
        return silent.has(update.sessionUpdate) ? [] : undefined;
    }
  }

  /** Publishes the open message so far: the agent may pause for long. */
  publishOpen(): UpdateEvent[] {
    const { open } = this;
    if (!open || open.unpublished === '') {
      return [];
    }
    const event = delta(open);
    open.unpublished = '';
    this.openedAt = this.now();
    return [event];
  }

  /** Publishes the open message as a whole: it is over. */
  finish(): UpdateEvent[] {
    const { open } = this;
    this.open = undefined;
    if (!open || open.whole === '') {
      return [];
    }
    if (open.kind === 'thought') {
      return open.unpublished === '' ? [] : [delta(open)];
    }
    this.lastMessage = open.whole;
    const isCut = open.whole.length === longestMessage;
    return [
      ...(isCut && open.unpublished !== '' ? [delta(open)] : []),
      { kind: 'message.assistant', payload: { text: open.whole }, ...item(open.id) },
    ];
  }

  private words(kind: 'message' | 'thought', { content, messageId }: z.infer<typeof chunk>): UpdateEvent[] {
    const id = messageId ?? undefined;
    const before = this.open && (this.open.kind !== kind || this.open.id !== id) ? this.finish() : [];
    const text = content.text ?? `[${content.type}]`;
    if (!this.open) {
      this.open = { kind, id, whole: '', unpublished: '' };
      this.openedAt = this.now();
    }
    const { open } = this;
    open.whole = cut(open.whole + text, longestMessage);
    open.unpublished += text;
    const due = open.unpublished.length >= deltas.characters || this.now() - this.openedAt >= deltas.afterMs;
    return due ? [...before, ...this.publishOpen()] : before;
  }

  private tool({ toolCallId, ...call }: z.infer<typeof toolCall>): UpdateEvent[] {
    const toolName = this.tools.get(toolCallId);
    const title = call.title ?? toolName ?? toolCallId;
    // A session of many thousand calls must not fill memory with their titles.
    if (this.tools.size > 1_000) {
      this.tools.clear();
    }
    this.tools.set(toolCallId, title);
    const common = { name: title, ...(call.kind === undefined || call.kind === null ? {} : { toolKind: call.kind }) };
    const events: UpdateEvent[] = [];
    if (toolName === undefined) {
      const payload = {
        ...common,
        ...(call.locations ? { paths: call.locations.map(({ path }) => path) } : {}),
        ...(call.rawInput === undefined ? {} : { input: call.rawInput }),
      };
      events.push({ kind: 'tool.started', payload, ...item(toolCallId) });
    }
    if (call.status !== 'completed' && call.status !== 'failed') {
      return events;
    }
    for (const { type, path } of call.content ?? []) {
      if (type === 'diff' && path !== undefined && call.status === 'completed') {
        events.push({ kind: 'file.changed', payload: { path, status: 'modified' }, ...item(toolCallId) });
      }
    }
    events.push({ kind: 'tool.completed', payload: { ...common, status: call.status }, ...item(toolCallId) });
    return events;
  }
}

const item = (id: string | undefined) => (id === undefined || id === '' || id.length > 256 ? {} : { itemId: id });

const delta = ({ kind, unpublished, id }: OpenMessage) => ({
  kind: kind === 'message' ? ('message.delta' as const) : ('reasoning.delta' as const),
  payload: { text: unpublished },
  ...item(id),
});

function planEvent({ entries }: z.infer<typeof plan>): UpdateEvent {
  const done = entries.filter(({ status }) => status === 'completed').length;
  const current = entries.find(({ status }) => status === 'in_progress')?.content;
  return {
    kind: 'progress',
    payload: {
      message: current ?? 'Plan',
      ...(entries.length > 0 ? { percent: Math.round((done / entries.length) * 100) } : {}),
      plan: entries.map(({ content, status }) => ({ content, status })),
    },
  };
}

const usageEvent = ({ used, size, cost }: z.infer<typeof usage>): UpdateEvent => ({
  kind: 'usage.updated',
  payload: { contextTokens: used, contextWindow: size, ...(cost ? { sessionCost: cost } : {}) },
});

function read<T>(schema: z.ZodType<T>, update: unknown, events: (data: T) => UpdateEvent[]): UpdateEvent[] | undefined {
  const parsed = schema.safeParse(update);
  return parsed.success ? events(parsed.data) : undefined;
}
