import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type Line, LineSplitter } from './line-splitter';

/**
 * What may still come through a pipe once everyone known to write to it is gone: the pipe's own capacity, which is at
 * most this much. More comes from a process that got away, and is not waited for.
 */
const afterEnd = { bytes: 1_048_576, idleMs: 250 } as const;

const idle = async (ended: AbortSignal, done: AbortSignal): Promise<'idle'> => {
  if (!ended.aborted) await once(ended, 'abort', { signal: done });
  return delay(afterEnd.idleMs, 'idle' as const, { signal: done });
};

/** The next chunk; `undefined` at the end, or when the writers are gone and nothing came for a moment. */
async function nextChunk(chunks: AsyncIterator<Buffer>, ended: AbortSignal): Promise<Buffer | undefined> {
  const done = new AbortController();
  const waiting = idle(ended, done.signal);
  // Aborting it is how it ends normally.
  waiting.catch(() => undefined);
  try {
    const next = await Promise.race([chunks.next(), waiting]);
    return next === 'idle' || next.done === true ? undefined : next.value;
  } finally {
    done.abort();
  }
}

/**
 * Feeds the lines of a stream to `consume`, no faster than it takes them, until the stream ends. A process that
 * inherited the pipe and outlives its group would keep it open for ever, so after `ended` only what is in the pipe is
 * still read.
 */
export async function pump(
  stream: Readable,
  consume: (line: Line) => Promise<void> | undefined,
  ended: AbortSignal,
  longest?: number,
): Promise<void> {
  const splitter = new LineSplitter(longest);
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let late = 0;
  try {
    for (let chunk = await nextChunk(chunks, ended); chunk; chunk = await nextChunk(chunks, ended)) {
      for (const line of splitter.push(chunk)) await consume(line);
      if (ended.aborted) late += chunk.length;
      if (late > afterEnd.bytes) break;
    }
    for (const line of splitter.end()) await consume(line);
  } finally {
    stream.destroy();
  }
}
