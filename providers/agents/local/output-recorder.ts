import type { RunEventInput, RunEventKind } from '../../../contracts/run-event';
import { createLineRedactor, type Redactor } from '../../../platform/log/redact';
import { type BoundedPayload, boundedPayload } from '../../../runs/events/bounded-payload';
import { type ReadResult, readAgentResult } from '../agent-result';
import type { AgentOutput } from '../provider';
import type { Line } from './line-splitter';
import { parseLine } from '../process/parse-line';

/** What an event costs the stores besides its payload; without it a flood of empty lines would be free. */
const eventBytes = 256;

/** Kept back for the event that says that the limit was reached. */
const noticeBytes = 512;

const brace = 0x7b;

/** For text that is redacted already. */
const asItIs: Redactor = (text) => text;

/**
 * Turns lines into bounded, redacted events until the output limit is reached. After it, lines are counted and dropped
 * with one event that says so; only a `result` is still read.
 */
export class OutputRecorder {
  private readonly output: AgentOutput = { bytes: 0, persistedBytes: 0, truncated: false };
  private count = 0;
  private lastResult: ReadResult | undefined;
  /** Of each stream on its own: their lines come in any order. */
  private readonly redactLine: Record<'stdout' | 'stderr', Redactor>;

  constructor(
    private readonly limitBytes: number,
    private readonly redact: Redactor,
    private readonly emit: (event: RunEventInput) => Promise<void> | undefined,
  ) {
    this.redactLine = { stdout: createLineRedactor(redact), stderr: createLineRedactor(redact) };
  }

  get totals(): AgentOutput {
    return { ...this.output };
  }

  /** The last result that was reported. */
  get result(): ReadResult | undefined {
    return this.lastResult;
  }

  /** A returned promise resolves when the next line may come. */
  stdout(line: Line): Promise<void> | undefined {
    this.output.bytes += line.bytes;
    // Past the limit a flood goes by at full speed: a line that cannot be a result is not even decoded.
    if (this.output.truncated && line.content[0] !== brace) return undefined;
    const { kind, payload, result } = parseLine(line.content.toString('utf8'));
    if (result) this.lastResult = readAgentResult(this.clean(result));
    if (kind === 'stream.stdout') return this.recordText(kind, String(payload.text), line.bytes);
    return this.record(kind, boundedPayload(payload, this.redact, { originalBytes: line.bytes }));
  }

  /** A returned promise resolves when the next line may come. */
  stderr(line: Line): Promise<void> | undefined {
    this.output.bytes += line.bytes;
    if (this.output.truncated) return undefined;
    return this.recordText('stream.stderr', line.content.toString('utf8'), line.bytes);
  }

  /** Results are not payloads: they have their own limits, but no secrets either. */
  private clean(fields: Record<string, unknown>): Record<string, unknown> {
    return JSON.parse(JSON.stringify(fields), (_, value: unknown) =>
      typeof value === 'string' ? this.redact(value) : value,
    ) as Record<string, unknown>;
  }

  private recordText(kind: 'stream.stdout' | 'stream.stderr', text: string, bytes: number) {
    const clean = this.redactLine[kind === 'stream.stdout' ? 'stdout' : 'stderr'](text);
    const hidden = clean === text ? [] : ['text'];
    return this.record(kind, boundedPayload({ text: clean }, asItIs, { originalBytes: bytes, hidden }));
  }

  private record(kind: RunEventKind, bounded: BoundedPayload): Promise<void> | undefined {
    if (this.output.truncated) return undefined;
    if (this.output.persistedBytes + bounded.bytes + eventBytes > this.limitBytes - noticeBytes)
      return this.recordLimit();
    return this.persist(kind, bounded);
  }

  private recordLimit(): Promise<void> | undefined {
    this.output.truncated = true;
    const message = `Output limit of ${this.limitBytes} bytes reached: further output is counted and dropped.`;
    return this.persist('stream.stderr', boundedPayload({ text: message, truncated: true }, this.redact));
  }

  private persist(kind: RunEventKind, { payload, redaction, bytes }: BoundedPayload) {
    this.output.persistedBytes += bytes + eventBytes;
    this.count += 1;
    return this.emit({
      kind,
      payload,
      redaction,
      receivedAt: new Date().toISOString(),
      dedupeKey: `process-${this.count}`,
    });
  }
}
