import { setTimeout as delay } from 'node:timers/promises';
import { FeedRefusedError, followRun, unwrap } from '../../clients/typescript/src';
import type { components } from '../../clients/typescript/src/types';
import { oneLine, plain } from '../output/plain';
import type { Style } from '../output/style';
import type { Session } from '../session';

export type RunEvent = components['schemas']['RunEvent'];

export interface RunPath {
  taskId: string;
  attemptId: string;
}

const pollMs = 500;
const pageSize = 200;

/** The event that ends an attempt; nothing follows it. */
const ends = new Set<RunEvent['kind']>(['run.completed', 'run.failed', 'run.interrupted', 'run.refused']);
export const isEnd = ({ kind }: RunEvent): boolean => ends.has(kind);

/** What is printed where something that forwards requests to the board opens no WebSocket. */
export const pollingNote = 'The board opens no WebSocket here: what it stores is read twice a second instead.';

/**
 * The events of an attempt in order, as they are recorded, until the one that ends it: by the feed, which resumes after the last one when its
 * connection is lost, and by reading them again and again only where the feed is refused.
 */
export async function* followEvents(session: Session, path: RunPath): AsyncGenerator<RunEvent> {
  let last = 0;
  try {
    for await (const event of followRun(session.feed, path)) {
      last = event.sequence;
      yield event;
    }
    return;
  } catch (error) {
    if (!(error instanceof FeedRefusedError)) {
      throw error;
    }
  }
  session.note(pollingNote);
  yield* pollEvents(session, path, last);
}

async function* pollEvents({ board, signal }: Session, path: RunPath, after: number): AsyncGenerator<RunEvent> {
  for (let afterSequence = after; ;) {
    const page = await unwrap(
      board.GET('/api/agents/{taskId}/attempts/{attemptId}/events', {
        params: { path, query: { afterSequence, limit: pageSize } },
        signal,
      }),
    );
    for (const event of page.events) {
      yield event;
      afterSequence = event.sequence;
      if (isEnd(event)) {
        return;
      }
    }
    if (page.events.length === 0) {
      await delay(pollMs, undefined, { signal });
    }
  }
}

const textOf = (payload: Record<string, unknown>): string | undefined => {
  const found = ['message', 'text', 'action', 'path', 'name', 'title', 'summary', 'reason', 'status'].find(
    (field) => typeof payload[field] === 'string' && payload[field] !== '',
  );
  return found === undefined ? undefined : (payload[found] as string);
};

const barWidth = 20;

/** A bar of how far a run is, by its own report. */
export function progressBar(percent: number): string {
  const filled = Math.round((Math.min(100, Math.max(0, percent)) / 100) * barWidth);
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${Math.round(percent)} %`;
}

/** One event as lines for people. */
export function eventText({ receivedAt, kind, payload }: RunEvent, style: Style): string {
  const at = style('dim', receivedAt.slice(11, 19));
  const fields = payload as Record<string, unknown>;
  const text = textOf(fields);
  if (kind === 'progress' && typeof fields.percent === 'number') {
    return `${at}  ${progressBar(fields.percent)}  ${oneLine(text ?? '', 100)}\n`;
  }
  if (kind === 'message.assistant' || kind === 'message.operator') {
    return `${at}  ${style('cyan', kind)}\n${plain(text ?? '').trimEnd()}\n`;
  }
  return `${at}  ${style('cyan', kind)}${text === undefined ? '' : `  ${oneLine(text, 140)}`}\n`;
}
