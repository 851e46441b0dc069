import { z } from 'zod';
import type { EventIds, RunEventKind } from '../../../contracts/runs/event';
import { JsonLimitError, parseBoundedJson } from '../../../platform/json/bounded';
import { lineLimits } from '../message-limits';

/** The content of one line of an agent's standard output. */
export interface ParsedLine {
  kind: RunEventKind;
  payload: Record<string, unknown>;
  /** The agent's own names of its session, turn and item. */
  ids: EventIds;
  /** The line itself, when it is a `result`. */
  result?: Record<string, unknown>;
  /** Why the line was not read although it looks like JSON: it is text like any other. */
  refused?: string;
}

type Fields = Record<string, unknown>;

const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/);
const idNames = z.object({ sessionId: id.optional(), turnId: id.optional(), itemId: id.optional() });

const amount = z.number().nonnegative();

/** The fields each event must have; others pass through. */
const shapes = {
  progress: z.looseObject({ message: z.string(), percent: z.number().min(0).max(100).optional() }),
  message: z.looseObject({ text: z.string() }),
  tokens: z.looseObject({
    model: z.string().optional(),
    inputTokens: amount,
    outputTokens: amount,
    cacheTokens: amount.optional(),
    cost: amount.optional(),
  }),
  tool: z.looseObject({ name: z.string(), status: z.string(), detail: z.unknown().optional() }),
  file: z.looseObject({ path: z.string(), status: z.string() }),
  artifact: z.looseObject({ path: z.string(), kind: z.string().optional(), name: z.string().optional() }),
  approval: z.looseObject({ action: z.string(), actionClass: z.string(), details: z.unknown().optional() }),
  result: z.looseObject({}),
} satisfies Record<string, z.ZodType>;

type EventType = keyof typeof shapes;

const isEventType = (type: string): type is EventType => Object.hasOwn(shapes, type);

const toolBegins = new Set(['started', 'start', 'running', 'pending']);

const kinds: Record<EventType, (fields: Fields) => RunEventKind> = {
  progress: () => 'progress',
  message: () => 'message.assistant',
  tokens: () => 'usage.updated',
  tool: ({ status }) => (toolBegins.has(String(status)) ? 'tool.started' : 'tool.completed'),
  file: () => 'file.changed',
  artifact: () => 'artifact.created',
  approval: () => 'approval.requested',
  // Its workflow reports that the run completed; a watcher still wants to see the agent's own words.
  result: () => 'progress',
};

function parseObject(text: string): { fields?: Fields; refused?: string } {
  if (!text.startsWith('{')) {
    return {};
  }
  try {
    const value = parseBoundedJson(text, lineLimits);
    return typeof value === 'object' && value !== null ? { fields: value as Fields } : {};
  } catch (error) {
    return error instanceof JsonLimitError ? { refused: error.message } : {};
  }
}

/** Whether a line that was not read claims to be a result: that must not pass for none at all. */
const claimsResult = (text: string): boolean => /"type"\s*:\s*"result"/.test(text);

function refusedLine(text: string, refused: string): ParsedLine {
  return {
    kind: 'stream.stdout',
    payload: { text },
    ids: {},
    refused,
    ...(claimsResult(text) ? { result: { type: 'result' } } : {}),
  };
}

/** Takes out what names a session, a turn or an item; a field with such a name that cannot be one stays where it is. */
function takeIds(fields: Fields): { ids: EventIds; payload: Fields } {
  const idFields = Object.entries(fields).filter(
    ([name, value]) => Object.hasOwn(idNames.shape, name) && id.safeParse(value).success,
  );
  const names = new Set(idFields.map(([name]) => name));
  return {
    ids: idNames.parse(Object.fromEntries(idFields)),
    payload: Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name))),
  };
}

/**
 * Turns a line of standard output into an event: a JSON object with a known `type` is that event, one with another
 * type or with wrong fields is `provider.unknown`, anything else is text. So is an object beyond the limits, with why.
 */
export function parseLine(text: string): ParsedLine {
  const { fields, refused } = parseObject(text.trim());
  if (refused !== undefined) {
    return refusedLine(text, refused);
  }
  if (typeof fields?.type !== 'string') {
    return { kind: 'stream.stdout', payload: { text }, ids: {} };
  }
  const { type, ...payloadFields } = fields;
  if (typeof type !== 'string' || !isEventType(type)) {
    return { kind: 'provider.unknown', payload: fields, ids: {} };
  }
  const { ids, payload } = takeIds(payloadFields);
  const parsed = shapes[type].safeParse(payload);
  if (!parsed.success) {
    const problem = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
    return { kind: 'provider.unknown', payload: { ...fields, problem }, ids: {} };
  }
  const kind = kinds[type](payload);
  if (type !== 'result') {
    return { kind, payload, ids };
  }
  const { status, summary } = payload;
  return { kind, payload: { message: 'The agent reported its result.', status, summary }, ids, result: payload };
}
