import { clipText } from '../../../domain/events/clip';

/** Takes the pieces of a body in order and returns its result once all have come. */
export interface Extractor<T> {
  take(piece: Buffer): void;
  done(): T;
}

/** The bytes from `offset`, up to `length`, with up to `margin` bytes at either side for checks across the edges. */
export function bytesFrom(
  offset: number,
  length: number,
  margin: number,
): Extractor<{ bytes: Buffer; before: Buffer; after: Buffer }> {
  const from = Math.max(0, offset - margin);
  const chunks: Buffer[] = [];
  let at = 0;
  return {
    take(piece) {
      const part = piece.subarray(Math.max(0, from - at), Math.max(0, offset + length + margin - at));
      if (part.length > 0) {
        chunks.push(part);
      }
      at += piece.length;
    },
    done() {
      const all = Buffer.concat(chunks);
      const start = Math.min(all.length, offset - from);
      return {
        before: all.subarray(0, start),
        bytes: all.subarray(start, start + length),
        after: all.subarray(start + length),
      };
    },
  };
}

export interface FoundLines {
  lines: string[];
  totalLines: number;
  /** Whether the only line was cut because it is longer than a response. */
  truncated: boolean;
  /** The first line after those returned; null when there is none. */
  nextLine: number | null;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Lines from `startLine` (the first is 1), limited to `count` lines and `maxBytes` of text. Lines end with a newline, or with a
 * carriage return and one; what follows the last line end is a line unless it is empty.
 */
export function linesFrom(startLine: number, count: number, maxBytes: number): Extractor<FoundLines> {
  const lines: string[] = [];
  let total = 0;
  let room = maxBytes;
  let truncated = false;
  let full = false;
  let parts: Buffer[] = [];
  /** Bytes of the current line, and how many of them are stored. */
  let seen = 0;
  let retainedBytes = 0;

  function grow(part: Buffer): void {
    seen += part.length;
    const number = total + 1;
    if (full || number < startLine || number >= startLine + count) {
      return;
    }
    // A few more than fit: enough to detect that it does not, whatever its line end and last character are.
    const needed = part.subarray(0, Math.max(0, room + 8 - retainedBytes));
    parts.push(needed);
    retainedBytes += needed.length;
  }

  function end(hasNewline: boolean): void {
    total += 1;
    if (!full && total >= startLine && total < startLine + count) {
      add(hasNewline);
    }
    parts = [];
    seen = 0;
    retainedBytes = 0;
  }

  function add(hasNewline: boolean): void {
    const bytes = Buffer.concat(parts);
    const whole = retainedBytes === seen;
    const text = (whole && hasNewline && bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes).toString(
      'utf8',
    );
    const clipped = clipText(text, room);
    if (whole && clipped === text) {
      lines.push(text);
      room -= Buffer.byteLength(text);
      return;
    }
    full = true;
    if (lines.length > 0) {
      return;
    }
    lines.push(clipped);
    truncated = true;
  }

  return {
    take(piece) {
      let from = 0;
      for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
        grow(piece.subarray(from, at));
        end(true);
        from = at + 1;
      }
      if (from < piece.length) {
        grow(piece.subarray(from));
      }
    },
    done() {
      if (seen > 0) {
        end(false);
      }
      const next = startLine + lines.length;
      return { lines, totalLines: total, truncated, nextLine: next <= total ? next : null };
    },
  };
}

/** The whole body; `undefined` when it is longer than `maxBytes`. */
export function wholeUpTo(maxBytes: number): Extractor<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    take(piece) {
      bytes += piece.length;
      if (bytes <= maxBytes) {
        chunks.push(piece);
      } else {
        chunks.length = 0;
      }
    },
    done: () => (bytes <= maxBytes ? Buffer.concat(chunks) : undefined),
  };
}
