import { artifactLimits } from '../../../contracts/runs/output';

/** One line of output. */
export interface Line {
  /** Without the line end, at most as long as the splitter's limit. */
  content: Buffer;
  /** As it was written, with the line end. */
  bytes: number;
}

/**
 * The most that is stored of one line. It is more than an artifact holds, so that a secret across that limit is still
 * recognised whole.
 */
export const longestLine = artifactLimits.lineBytes + 16_384;

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Splits a byte stream into lines with bounded memory: of a line longer than its limit the beginning is stored and the
 * rest is only counted, so that an endless line without a line end costs nothing.
 */
export class LineSplitter {
  private parts: Buffer[] = [];
  private retained = 0;
  private bytes = 0;

  /** @param longest the most that is stored of one line, in bytes */
  constructor(private readonly longest = longestLine) {}

  /** The lines that this chunk completes. */
  *push(chunk: Buffer): Generator<Line> {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.keep(chunk.subarray(from, at));
      this.bytes += 1;
      from = at + 1;
      yield this.take();
    }
    if (from < chunk.length) {
      this.keep(chunk.subarray(from));
    }
  }

  /** The last line, when the stream did not end with a line end. */
  *end(): Generator<Line> {
    if (this.bytes > 0) {
      yield this.take();
    }
  }

  private keep(part: Buffer): void {
    this.bytes += part.length;
    const room = this.longest - this.retained;
    if (room <= 0 || part.length === 0) {
      return;
    }
    const retained = part.subarray(0, room);
    this.parts.push(retained);
    this.retained += retained.length;
  }

  private take(): Line {
    const joined = this.parts.length === 1 ? (this.parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.parts);
    const content = joined.at(-1) === carriageReturn ? joined.subarray(0, -1) : joined;
    const line = { content, bytes: this.bytes };
    this.parts = [];
    this.retained = 0;
    this.bytes = 0;
    return line;
  }
}
