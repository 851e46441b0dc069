import type { RunEvent } from '../../contracts/runs/event';
import type { TraceSpan } from '../../contracts/runs/trace';
import { compact } from '../../platform/json/compact';
import { type Begun, spanOf } from './span';
import { agentSpanId } from './step-spans';

/** The most spans that are made of the events of one attempt. */
export const maxEventSpans = 2_000;

/** What begins and ends a span. */
const begins: Partial<Record<RunEvent['kind'], 'tool' | 'command' | 'approval'>> = {
  'tool.started': 'tool',
  'command.started': 'command',
  'approval.requested': 'approval',
};
const ends: Partial<Record<RunEvent['kind'], 'tool' | 'command' | 'approval'>> = {
  'tool.completed': 'tool',
  'command.completed': 'command',
  'command.detached': 'command',
  'approval.resolved': 'approval',
};
/** Results of a provider, or of a decision, that are none of success. */
const unsuccessful = new Set(['failed', 'error', 'rejected', 'denied', 'cancelled', 'expired', 'refused']);

interface Turn extends Begun {
  lastAt: string;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const nameOf = ({ payload, itemId }: RunEvent): string =>
  textOf(payload['name']) ??
  textOf(payload['title']) ??
  textOf(payload['command']) ??
  textOf(payload['action']) ??
  itemId ??
  'unnamed';

/** What an end is matched by with its beginning: the provider's own id, or else the name. */
const keyOf = (kind: string, event: RunEvent): string =>
  `${kind}\n${textOf(event.payload['approvalId']) ?? event.itemId ?? nameOf(event)}`;

/** Makes the spans of turns, tools, commands and approvals of the events of an attempt, read in their order. */
export function createEventSpans() {
  const open = new Map<string, Begun>();
  const turns = new Map<string, Turn>();
  const done: TraceSpan[] = [];
  let left = false;

  const hasCapacity = (): boolean => open.size + turns.size + done.length < maxEventSpans;

  function turnOf({ turnId, receivedAt, sequence }: RunEvent): Turn | undefined {
    if (turnId === undefined) {
      return undefined;
    }
    const turn = turns.get(turnId);
    if (turn) {
      turn.lastAt = receivedAt;
      return turn;
    }
    if (!hasCapacity()) {
      left = true;
      return undefined;
    }
    const begun: Turn = {
      ...{
        spanId: `turn:${sequence}`,
        parentSpanId: agentSpanId,
        kind: 'turn' as const,
        name: `turn ${turns.size + 1}`,
      },
      ...{ startedAt: receivedAt, lastAt: receivedAt, attributes: { turnId } },
    };
    turns.set(turnId, begun);
    return begun;
  }

  function begin(kind: TraceSpan['kind'], event: RunEvent, turn: Turn | undefined): void {
    const key = keyOf(kind, event);
    const before = open.get(key);
    if (before) {
      // Its end was never reported: the provider uses the id again.
      open.delete(key);
      done.push(spanOf(before, 'unknown'));
    }
    if (!hasCapacity()) {
      left = true;
      return;
    }
    const attributes = compact({
      itemId: event.itemId,
      toolKind: textOf(event.payload['toolKind']),
      sequence: event.sequence,
    });
    open.set(key, {
      ...{ spanId: `${kind}:${event.sequence}`, parentSpanId: turn?.spanId ?? agentSpanId, kind, name: nameOf(event) },
      ...{ startedAt: event.receivedAt, attributes },
    });
  }

  function end(kind: TraceSpan['kind'], event: RunEvent): void {
    const key = keyOf(kind, event);
    const begun = open.get(key);
    if (!begun) {
      return;
    }
    open.delete(key);
    const { status, decision, exitCode } = event.payload;
    const outcome = textOf(status) ?? textOf(decision);
    const failed =
      (outcome !== undefined && unsuccessful.has(outcome)) || (typeof exitCode === 'number' && exitCode !== 0);
    const attributes = { ...begun.attributes, ...compact({ outcome }) };
    done.push(spanOf({ ...begun, attributes }, failed ? 'error' : 'ok', event.receivedAt));
  }

  return {
    add(event: RunEvent): void {
      const turn = turnOf(event);
      const begun = begins[event.kind];
      const ended = ends[event.kind];
      if (begun) {
        begin(begun, event, turn);
      } else if (ended) {
        end(ended, event);
      }
    },

    /** Whether something had no capacity any more. */
    isTruncated: (): boolean => left,

    /**
     * The spans of all events.
     *
     * @param endedAt when the attempt ended, if it has: what is open then has no recorded end
     */
    spans(endedAt: string | undefined): TraceSpan[] {
      const unfinished = [...open.values()].map((begun) => spanOf(begun, endedAt === undefined ? 'open' : 'unknown'));
      const all = [...turns.values()].map(({ lastAt, ...begun }) => spanOf(begun, 'ok', lastAt));
      return [...all, ...done, ...unfinished];
    },
  };
}
