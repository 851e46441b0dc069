import type { EventIds, RunEventInput, RunEventKind } from '../../../contracts/runs/event';
import { type EventPayload, eventPayload, textPayload, withPreview } from '../../../domain/events/event-payload';
import { captureOutput } from '../../../domain/events/output-artifact';
import { compact } from '../../../platform/json/compact';
import { createLineRedactor, type Redactor } from '../../../platform/log/redact';
import { readAgentResult, type ReadResult } from '../agent-result';
import type { CaptureFile } from '../capture-file';
import { parseLine } from '../process/parse-line';
import type { AgentOutput } from '../provider';
import { LastWords } from './last-output';
import type { Line } from './line-splitter';
import type { StreamEnd } from './pump';
import { eventBytes, limitKey, lineKey, nothingRecorded, type RecordedOutput } from './recorded-output';

/** Reserved for the event of the reached limit. */
const noticeBytes = 512;

const brace = 0x7b;

export type { EventIds };

export interface RecorderOptions {
  attemptId: string;
  /** The most that is handed on, in bytes of events and artifacts. */
  limitBytes: number;
  redact: Redactor;
  /** Reads a file that the agent reports as an artifact. */
  captureFile: CaptureFile;
  /** What was recorded of the same output before: its lines are read again, and not published again. */
  recorded?: RecordedOutput;
  /** A returned promise resolves when there is capacity for the next event. */
  emit: (event: RunEventInput) => Promise<void> | undefined;
}

/**
 * Turns lines into bounded, redacted events until the output limit is reached. What is too large for an event becomes an
 * artifact with a preview in it. After the limit, lines are counted and dropped with one event about it; only a
 * `result` is still read.
 */
export class OutputRecorder {
  private readonly output: AgentOutput;
  private events = 0;
  /** Where the current line of each stream ends. */
  private readonly position = { stdout: 0, stderr: 0 };
  private readonly recorded: RecordedOutput;
  private lastResult: ReadResult | undefined;
  private readonly words = new LastWords();
  /** Of each stream on its own: their lines come in any order. */
  private readonly redactLine: Record<'stdout' | 'stderr', Redactor>;

  constructor(private readonly options: RecorderOptions) {
    const { redact } = options;
    this.recorded = options.recorded ?? nothingRecorded;
    const { persistedBytes, truncated } = this.recorded;
    this.output = { bytes: 0, persistedBytes, truncated, refusedLines: 0 };
    this.redactLine = { stdout: createLineRedactor(redact), stderr: createLineRedactor(redact) };
  }

  get totals(): AgentOutput {
    return { ...this.output };
  }

  /** The last result that was reported. */
  get result(): ReadResult | undefined {
    return this.lastResult;
  }

  /** The last lines of standard error, without secrets; empty when there were none. */
  get lastWords(): string {
    return this.words.text;
  }

  /** A returned promise resolves when the next line may come. */
  stdout(line: Line): Promise<void> | undefined {
    const { key, isKnown } = this.received('stdout', line);
    // Past the limit a flood goes by at full speed: a line that cannot be a result is not even decoded.
    if (this.output.truncated && line.content[0] !== brace) {
      return undefined;
    }
    const { kind, payload, ids, result, refused } = parseLine(line.content.toString('utf8'));
    if (refused !== undefined) {
      this.output.refusedLines += 1;
    }
    if (result) {
      this.lastResult = readAgentResult(this.clean(result));
    }
    if (this.output.truncated) {
      return undefined;
    }
    if (kind === 'stream.stdout') {
      return this.recordText(line, this.cleanLine('stdout', line), { key, isKnown, problem: refused });
    }
    if (isKnown) {
      return undefined;
    }
    if (kind === 'artifact.created') {
      return this.recordFile(payload, { bytes: line.bytes, ids, key });
    }
    return this.record(kind, (place) => this.payload(payload, line.bytes, place), { ids, key });
  }

  /** A returned promise resolves when the next line may come. */
  stderr(line: Line): Promise<void> | undefined {
    const { key, isKnown } = this.received('stderr', line);
    const clean = this.cleanLine('stderr', line);
    this.words.add(clean.text);
    if (this.output.truncated) {
      return undefined;
    }
    return this.recordText(line, clean, { key, isKnown });
  }

  /** Records that output was dropped before it was read; it is published even after the output limit. */
  streamCut(stream: 'stdout' | 'stderr', afterBytes: number): Promise<void> | undefined {
    const name = stream === 'stdout' ? 'output' : 'error';
    const text = `Standard ${name} was longer than the ${afterBytes} bytes that are stored of it: the rest was dropped, but for its last lines.`;
    return this.persist('stream.stderr', this.payload({ text, truncated: true }, 0), {
      ids: {},
      key: `${stream}-spool-limit`,
    });
  }

  /** Records that nothing more is read of a stream although a process still has it open. */
  streamEnded(stream: 'stdout' | 'stderr', end: StreamEnd): Promise<void> | undefined {
    if (end === 'end') {
      return undefined;
    }
    const name = stream === 'stdout' ? 'output' : 'error';
    const text = `A process that outlived the agent still has its standard ${name} open: what it writes is dropped.`;
    return this.record('stream.stderr', () => this.payload({ text, leftOpen: stream }, 0), {
      ids: {},
      key: `${stream}-left-open`,
    });
  }

  /** An event that a protocol speaks of, of a frame with so many bytes. */
  event(
    kind: RunEventKind,
    fields: Record<string, unknown>,
    { bytes = 0, ids = {} }: { bytes?: number; ids?: EventIds } = {},
  ): Promise<void> | undefined {
    this.output.bytes += bytes;
    return this.record(kind, (key) => this.payload(fields, bytes, key), { ids, key: `process-${this.events + 1}` });
  }

  /** A line that is seen to elsewhere, and leaves no event here. */
  skip(stream: 'stdout' | 'stderr', line: Line): undefined {
    this.received(stream, line);
  }

  /** A message that is beyond what is read of an agent; the beginning of it is shown. */
  refuse(
    text: string,
    { problem, bytes, ids = {} }: { problem: string; bytes: number; ids?: EventIds },
  ): Promise<void> | undefined {
    this.output.refusedLines += 1;
    return this.event('stream.stdout', { text, problem }, { bytes, ids });
  }

  /** Counts output that leaves no event of its own. */
  count(bytes: number): void {
    this.output.bytes += bytes;
  }

  /** A text without the secrets the agent was given. */
  redacted(text: string): string {
    return this.options.redact(text);
  }

  /** Counts a line. Its event is named by where it ends: then it is the same one for every reader of the stream. */
  private received(stream: 'stdout' | 'stderr', { bytes }: Line): { key: string; isKnown: boolean } {
    this.output.bytes += bytes;
    this.position[stream] += bytes;
    const end = this.position[stream];
    return { key: lineKey(stream, end), isKnown: end <= this.recorded[stream] };
  }

  /** For what is no payload and has limits of its own, but no secrets either. */
  private clean<T extends object>(fields: T): T {
    return JSON.parse(JSON.stringify(fields), (_, value: unknown) =>
      typeof value === 'string' ? this.options.redact(value) : value,
    ) as T;
  }

  private payload(fields: Record<string, unknown>, bytes: number, key?: string): EventPayload {
    const { attemptId, redact } = this.options;
    return eventPayload(fields, {
      redact,
      originalBytes: bytes,
      location: key === undefined ? undefined : { attemptId, key },
    });
  }

  /** To be called once for each line of a stream, in order: what is secret in one depends on those before it. */
  private cleanLine(kind: 'stdout' | 'stderr', { content }: Line): CleanLine {
    return { kind, text: this.redactLine[kind](content.toString('utf8')) };
  }

  private recordText(
    { content, bytes }: Line,
    { kind, text: clean }: CleanLine,
    { key, isKnown, problem }: { key: string; isKnown: boolean; problem?: string },
  ): Promise<void> | undefined {
    const text = content.toString('utf8');
    // A line end is two bytes at most; anything beyond it was dropped.
    const problemField = problem === undefined ? {} : { problem };
    const line = { kind, text, bytes, truncated: bytes - content.length > 2, ...problemField };
    const { attemptId } = this.options;
    if (isKnown) {
      return undefined;
    }
    return this.record(
      `stream.${kind}`,
      (place) => textPayload(line, () => clean, place === undefined ? undefined : { attemptId, key: place }),
      { ids: {}, key },
    );
  }

  /** An artifact that the agent reports is stored with its content, or with the reason why that is not possible. */
  private async recordFile(
    fields: Record<string, unknown>,
    { bytes, ids, key }: { bytes: number; ids: EventIds; key: string },
  ): Promise<void> {
    const { attemptId, captureFile } = this.options;
    const file = await captureFile(fields);
    await this.record(
      'artifact.created',
      (place) => {
        if ('problem' in file) {
          return this.payload({ ...fields, problem: file.problem }, bytes);
        }
        const payload = this.payload({ ...fields, path: file.name }, bytes);
        return place === undefined ? payload : withPreview(payload, captureOutput(attemptId, place, file));
      },
      { ids, key },
    );
  }

  /**
   * @param make the payload; with a key, anything that does not fit becomes an artifact
   */
  private record(
    kind: RunEventKind,
    make: (key?: string) => EventPayload,
    { ids, key }: { ids: EventIds; key: string },
  ): Promise<void> | undefined {
    if (this.output.truncated) {
      return undefined;
    }
    const whole = make(key);
    if (this.fits(whole)) {
      return this.persist(kind, whole, { ids, key });
    }
    // The quota may suffice for the event although it does not for the artifact.
    const bounded = whole.captured ? make() : whole;
    return this.fits(bounded) ? this.persist(kind, bounded, { ids, key }) : this.recordLimit();
  }

  private fits(made: EventPayload): boolean {
    return this.output.persistedBytes + cost(made) <= this.options.limitBytes - noticeBytes;
  }

  private recordLimit(): Promise<void> | undefined {
    this.output.truncated = true;
    const text = `Output limit of ${this.options.limitBytes} bytes reached: further output is counted and dropped.`;
    return this.persist('stream.stderr', this.payload({ text, truncated: true }, 0), { ids: {}, key: limitKey });
  }

  private persist(
    kind: RunEventKind,
    made: EventPayload,
    { ids, key }: { ids: EventIds; key: string },
  ): Promise<void> | undefined {
    this.output.persistedBytes += cost(made);
    this.events += 1;
    return this.options.emit({
      kind,
      ...(Object.keys(ids).length === 0 ? {} : this.clean(ids)),
      payload: made.payload,
      redaction: made.redaction,
      receivedAt: new Date().toISOString(),
      dedupeKey: key,
      ...compact({ captured: made.captured }),
    });
  }
}

interface CleanLine {
  kind: 'stdout' | 'stderr';
  text: string;
}

const cost = ({ bytes, captured }: EventPayload): number => bytes + eventBytes + (captured?.bytes ?? 0);
