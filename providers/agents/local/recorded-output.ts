import type { RunEventInput } from '../../../contracts/runs/event';

/** How far the output of an agent is recorded. */
export interface RecordedOutput {
  /** Bytes of each stream up to the end of the last line with an event. */
  stdout: number;
  stderr: number;
  /** As in `AgentOutput`. */
  persistedBytes: number;
  truncated: boolean;
}

export const nothingRecorded: RecordedOutput = { stdout: 0, stderr: 0, persistedBytes: 0, truncated: false };

/** What an event costs the stores besides its payload; without it a flood of empty lines would be free. */
export const eventBytes = 256;

/** The event of the line that ends at this byte of its stream: the same line is the same event, for every reader. */
export const lineKey = (stream: 'stdout' | 'stderr', end: number): string => `${stream}-${end}`;

/** The event of the reached limit. */
export const limitKey = 'output-limit';

const key = /^(stdout|stderr)-(\d+)$/;

/** Counts further events in; the positions of a stream only grow. */
export function withEvents(
  before: RecordedOutput,
  events: readonly Pick<RunEventInput, 'dedupeKey' | 'payload' | 'redaction'>[],
): RecordedOutput {
  const recorded = { ...before };
  for (const { dedupeKey = '', payload, redaction } of events) {
    const [, stream, end] = key.exec(dedupeKey) ?? [];
    if (dedupeKey === limitKey) {
      recorded.truncated = true;
    }
    if (stream !== 'stdout' && stream !== 'stderr') {
      continue;
    }
    recorded[stream] = Number(end);
    recorded.persistedBytes += (redaction?.persistedBytes ?? 0) + eventBytes + capturedBytes(payload);
  }
  return recorded;
}

/** The bytes that did not fit into an event, as its preview states. */
function capturedBytes({ outputArtifact }: RunEventInput['payload']): number {
  if (typeof outputArtifact !== 'object' || outputArtifact === null || !('bytes' in outputArtifact)) {
    return 0;
  }
  return typeof outputArtifact.bytes === 'number' ? outputArtifact.bytes : 0;
}
