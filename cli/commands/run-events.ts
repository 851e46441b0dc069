import { setTimeout as delay } from 'node:timers/promises';
import { unwrap } from '../../clients/typescript/src';
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

/** The events of an attempt in order, as they are recorded, until the one that ends it. */
export async function* followEvents({ board, signal }: Session, path: RunPath, after = 0): AsyncGenerator<RunEvent> {
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
