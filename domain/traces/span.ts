import type { TraceSpan } from '../../contracts/runs/trace';
import { cut } from '../../platform/text/cut';

/** A span before it is known when, and whether, it ended. */
export type Begun = Pick<TraceSpan, 'spanId' | 'parentSpanId' | 'kind' | 'name' | 'startedAt'> & {
  attributes?: TraceSpan['attributes'];
};

/** Longest name of a span: those of tools are the agent's words. */
const longestName = 200;

/** Milliseconds between two moments; 0 when clocks of two hosts have them the other way around. */
export const between = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from));

/**
 * The span of what has begun.
 *
 * @param endedAt absent while it has not ended
 */
export function spanOf(begun: Begun, status: TraceSpan['status'], endedAt?: string): TraceSpan {
  const { name, attributes = {}, ...fields } = begun;
  const ended = endedAt === undefined ? null : endedAt < begun.startedAt ? begun.startedAt : endedAt;
  return {
    ...fields,
    name: cut(name, longestName),
    status,
    endedAt: ended,
    durationMs: ended === null ? null : between(begun.startedAt, ended),
    attributes,
  };
}
