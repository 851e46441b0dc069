import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { type Line, LineSplitter } from './line-splitter';

/**
 * What may still come through a pipe once every known writer is gone: the pipe's own capacity, which is at most this
 * much. More comes from a process that escaped, and is not waited for.
 */
const afterEnd = { bytes: 1_048_576, idleMs: 250 } as const;

/** `end`: every writer has closed the stream. `left-open`: a process that escaped still has it open. */
export type StreamEnd = 'end' | 'left-open';

/** Resolves when nothing has come for a moment since the writers are gone. */
async function idle(gone: Promise<void>, done: AbortSignal): Promise<'idle'> {
  await gone;
  await delay(afterEnd.idleMs, undefined, { signal: done });
  // The process may have been busy or stopped all this time: only a turn that has polled the pipe shows that it is empty.
  await nextTurn(undefined, { signal: done });
  return nextTurn('idle' as const, { signal: done });
}

/** The next chunk; `undefined` at the end, `idle` when the writers are gone and nothing came for a moment. */
async function nextChunk(chunks: AsyncIterator<Buffer>, ended: AbortSignal): Promise<Buffer | undefined | 'idle'> {
  const done = new AbortController();
  let onEnded: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (onEnded = resolve));
  ended.addEventListener('abort', onEnded);
  if (ended.aborted) {
    onEnded();
  }
  const waiting = idle(gone, done.signal);
  // Aborting it is how it ends normally.
  waiting.catch(() => undefined);
  try {
    const next = await Promise.race([chunks.next(), waiting]);
    if (next === 'idle') {
      return next;
    }
    return next.done === true ? undefined : next.value;
  } finally {
    ended.removeEventListener('abort', onEnded);
    done.abort();
  }
}

export interface PumpOptions {
  ended: AbortSignal;
  longest?: number;
  /** Receives the size of what was read before its lines are fed on: a line without an end is no line. */
  count?: (bytes: number) => void;
}

/**
 * Feeds the lines of a stream to `consume`, no faster than it takes them, until the stream ends; a last line without a
 * line end is a line. A process that inherited the pipe and escaped its group would have it open for ever, so after
 * `ended` only what is in the pipe is still read: until nothing comes for a quarter of a second, at most 1 MB.
 */
export async function pump(
  stream: Readable,
  consume: (line: Line) => Promise<void> | undefined,
  { ended, longest, count }: PumpOptions,
): Promise<StreamEnd> {
  const splitter = new LineSplitter(longest);
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let late = 0;
  let end: StreamEnd = 'end';
  try {
    for (;;) {
      const chunk = late > afterEnd.bytes ? 'idle' : await nextChunk(chunks, ended);
      if (chunk === undefined) {
        break;
      }
      if (chunk === 'idle') {
        end = 'left-open';
        break;
      }
      count?.(chunk.length);
      for (const line of splitter.push(chunk)) {
        await consume(line);
      }
      if (ended.aborted) {
        late += chunk.length;
      }
    }
    for (const line of splitter.end()) {
      await consume(line);
    }
    return end;
  } finally {
    stream.destroy();
  }
}
