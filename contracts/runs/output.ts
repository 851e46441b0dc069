import { z } from 'zod';
import { attemptId, digest, taskId, timestamp } from '../common';

export const artifactId = z
  .string()
  .regex(/^artifact_[0-9a-f]{20}$/, 'must look like artifact_0123456789abcdef0123')
  .meta({ id: 'ArtifactId' });

/** What is stored of one run event outside of it, in bytes. */
export const artifactLimits = {
  /** Of one line of output. */
  lineBytes: 4_194_304,
  /** Of one file that an agent reports. */
  fileBytes: 8_388_608,
} as const;

/** Maximum of an artifact in one response. */
export const readLimits = { bytes: 65_536, lines: 1_000, jsonBytes: 1_048_576, jsonNodes: 200 } as const;

export const artifactKind = z.enum(['stdout', 'stderr', 'payload', 'file', 'log', 'report', 'other']);
export type ArtifactKind = z.infer<typeof artifactKind>;

export const artifactState = z.enum(['available', 'expired', 'quarantined']);

/** `run-output-artifact/v1`: output of a run that is too large for an event. Its content is read apart from it. */
export const outputArtifact = z
  .object({
    schemaVersion: z.literal('run-output-artifact/v1'),
    id: artifactId,
    taskId,
    runId: z.string(),
    attemptId,
    kind: artifactKind,
    /** The path in the worktree, for a file. */
    name: z.string().nullable(),
    mediaType: z.string(),
    /** Of the content as it is stored: redacted, and cut at the limits. */
    sha256: digest,
    bytes: z.number().int(),
    /** What the agent wrote, in bytes; more than `bytes` when something was cut. */
    originalBytes: z.number().int(),
    truncated: z.boolean(),
    createdAt: timestamp,
    /** When the content is removed, unless a run of the task is active then. */
    expiresAt: timestamp,
    state: artifactState,
    /** The run that prevents the content from expiring; null once that is over and the content is gone. */
    lease: z.object({ attemptId }).nullable(),
    quarantine: z.object({ reason: z.enum(['missing', 'hash-mismatch', 'secret-shape']), at: timestamp }).optional(),
    revision: z.number().int(),
  })
  .meta({ id: 'OutputArtifact' });
export type OutputArtifact = z.infer<typeof outputArtifact>;
export type QuarantineReason = NonNullable<OutputArtifact['quarantine']>['reason'];

/** Output on its way out of an event: its metadata and its content, redacted. */
export interface CapturedOutput extends Pick<
  OutputArtifact,
  'id' | 'kind' | 'name' | 'mediaType' | 'sha256' | 'bytes' | 'originalBytes' | 'truncated'
> {
  body: Buffer;
}

/** `run-output-preview/v1`: what an event shows of an artifact, under `payload.outputArtifact`. */
export const outputPreview = z
  .object({
    schemaVersion: z.literal('run-output-preview/v1'),
    artifactId,
    kind: artifactKind,
    name: z.string().nullable(),
    mediaType: z.string(),
    sha256: digest,
    bytes: z.number().int(),
    truncated: z.boolean(),
    /** Beginning and end of a text; empty for anything else. The end is empty when the beginning is everything. */
    head: z.string(),
    tail: z.string(),
  })
  .meta({ id: 'OutputPreview' });
export type OutputPreview = z.infer<typeof outputPreview>;

const ofRun = { runId: attemptId, attemptId };
const offset = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Which fields go with which operation. */
const operands = {
  'byte-range': ['offset', 'length'],
  'line-range': ['startLine', 'lineCount'],
  'json-path': ['jsonPath'],
} as const;
const operation = z.enum(['byte-range', 'line-range', 'json-path']);

/** Without an `operation`: what the artifact is. With one: a part of its content. */
export const outputArtifactQuery = z
  .strictObject({
    ...ofRun,
    operation: operation.optional(),
    offset: offset.optional(),
    length: z.coerce.number().int().min(1).max(readLimits.bytes).optional(),
    startLine: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
    lineCount: z.coerce.number().int().min(1).max(readLimits.lines).optional(),
    jsonPath: z.string().min(1).max(500).optional(),
  })
  .check(({ value, issues }) => {
    const allowed: readonly string[] = value.operation === undefined ? [] : operands[value.operation];
    for (const name of Object.values(operands).flat()) {
      if (value[name] === undefined || allowed.includes(name)) {
        continue;
      }
      const message = `does not go with ${value.operation ?? 'a request without operation'}`;
      issues.push({ code: 'custom', path: [name], message, input: value[name] });
    }
    if (value.operation === 'json-path' && value.jsonPath === undefined) {
      issues.push({ code: 'custom', path: ['jsonPath'], message: 'is required', input: undefined });
    }
  })
  .meta({ id: 'OutputArtifactQuery' });

export const outputDownloadQuery = z
  .strictObject({
    ...ofRun,
    offset: offset.default(0),
    length: z.coerce.number().int().min(1).max(artifactLimits.fileBytes).optional(),
  })
  .meta({ id: 'OutputDownloadQuery' });

const byteRange = z.object({
  operation: z.literal('byte-range'),
  offset: z.number().int(),
  length: z.number().int(),
  /** `base64` when the bytes are no whole UTF-8 text. */
  encoding: z.enum(['utf8', 'base64']),
  content: z.string(),
  /** Where to continue; null at the end. */
  nextOffset: z.number().int().nullable(),
});

const lineRange = z.object({
  operation: z.literal('line-range'),
  startLine: z.number().int(),
  /** Without their line ends. */
  lines: z.array(z.string()),
  /** Whether the last line was cut because the response is full. */
  truncated: z.boolean(),
  totalLines: z.number().int(),
  nextLine: z.number().int().nullable(),
});

const jsonPathMatches = z.object({
  operation: z.literal('json-path'),
  jsonPath: z.string(),
  /** Each value with its normalized path, in the order of RFC 9535. */
  matches: z.array(z.object({ path: z.string(), value: z.unknown() })),
  /** Whether there are more than one response has. */
  truncated: z.boolean(),
});

export const outputContent = z.discriminatedUnion('operation', [byteRange, lineRange, jsonPathMatches]);
export type OutputContent = z.infer<typeof outputContent>;

export const outputArtifactResponse = z
  .object({
    schemaVersion: z.literal('run-output-read/v1'),
    artifact: outputArtifact,
    content: outputContent.nullable(),
  })
  .meta({ id: 'OutputArtifactAnswer' });
