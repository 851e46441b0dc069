import { createHash } from 'node:crypto';
import { artifactLimits, type OutputContent, type QuarantineReason, readLimits } from '../../../contracts/runs/output';
import { isText } from '../../../domain/events/output-artifact';
import { AppError, validationError } from '../../../platform/errors/app-error';
import { hasSecretShape } from '../../../platform/log/redact';
import { BlobMissingError } from '../../../stores/blobs/blob-store';
import type { OutputArtifactRecord, OutputArtifactStore } from '../../../stores/runs/output-store';
import { jsonPathMatches, JsonPathProblem } from './json-path';
import { bytesFrom, type Extractor, linesFrom, wholeUpTo } from './ranges';

/** The content is not what was stored, or contains what must not leave. */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';

  constructor(readonly reason: QuarantineReason) {
    super(`The content is withheld: ${reason}.`);
  }
}

/** The requested part of the content. */
export type ContentRequest =
  | { operation: 'byte-range'; offset: number; length: number }
  | { operation: 'line-range'; startLine: number; lineCount: number }
  | { operation: 'json-path'; jsonPath: string };

/** Read around the returned part, in bytes, so that a secret is recognised whose end is elsewhere. */
const margin = 16_384;

type Contents = Pick<OutputArtifactStore, 'read'>;

/**
 * Reads a part of an artifact's content. All of it goes by, piece by piece, so that nothing leaves of a body whose hash
 * is not the one that was stored.
 *
 * @throws ContentProblem when the content must not leave
 * @throws AppError 400, 409 or 413 when the content has no such part
 */
export async function readContent(
  contents: Contents,
  artifact: OutputArtifactRecord,
  request: ContentRequest,
): Promise<OutputContent> {
  switch (request.operation) {
    case 'byte-range':
      return readBytes(contents, artifact, request);
    case 'line-range': {
      const { startLine, lineCount } = request;
      const lines = await verified(contents, artifact, linesFrom(startLine, lineCount, readLimits.bytes));
      // Lines begin and end at line ends, so nothing at their edges is the rest of a word.
      if (hasSecretShape(lines.lines.join('\n'), { atStart: true, atEnd: !lines.truncated })) {
        throw new ContentProblem('secret-shape');
      }
      return { operation: 'line-range', startLine, ...lines };
    }
    case 'json-path':
      return readJson(contents, artifact, request.jsonPath);
  }
}

async function readBytes(
  contents: Contents,
  artifact: OutputArtifactRecord,
  { offset, length }: { offset: number; length: number },
): Promise<OutputContent> {
  const { before, bytes, after } = await verified(contents, artifact, bytesFrom(offset, length, margin));
  const end = offset + bytes.length;
  const edges = { atStart: offset <= margin, atEnd: end + after.length >= artifact.bytes };
  if (hasSecretShape(decoded(artifact, Buffer.concat([before, bytes, after])), edges)) {
    throw new ContentProblem('secret-shape');
  }
  const text = bytes.toString('utf8');
  const isWholeText = Buffer.from(text).equals(bytes);
  return {
    operation: 'byte-range',
    offset,
    length: bytes.length,
    encoding: isWholeText ? 'utf8' : 'base64',
    content: isWholeText ? text : bytes.toString('base64'),
    nextOffset: end < artifact.bytes ? end : null,
  };
}

async function readJson(contents: Contents, artifact: OutputArtifactRecord, jsonPath: string): Promise<OutputContent> {
  const body = await verified(contents, artifact, wholeUpTo(readLimits.jsonBytes));
  if (!body) {
    throw new AppError('ARTIFACT_TOO_LARGE', {
      status: 413,
      message: `A JSONPath reads at most ${readLimits.jsonBytes} bytes.`,
      details: { bytes: artifact.bytes },
    });
  }
  const text = decoded(artifact, body);
  if (hasSecretShape(text, { atStart: true, atEnd: true })) {
    throw new ContentProblem('secret-shape');
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new AppError('ARTIFACT_NOT_JSON', {
      status: 409,
      message: 'The content is not one JSON value.',
      details: { mediaType: artifact.mediaType, truncated: artifact.truncated },
    });
  }
  try {
    const limits = { nodes: readLimits.jsonNodes, bytes: readLimits.bytes };
    return { operation: 'json-path', jsonPath, ...jsonPathMatches(document, jsonPath, limits) };
  } catch (error) {
    if (!(error instanceof JsonPathProblem)) {
      throw error;
    }
    throw validationError([{ path: 'jsonPath', message: error.message }]);
  }
}

/**
 * The bytes of a download, of which nothing is sent before all of it has been checked.
 *
 * @throws ContentProblem when the content must not leave
 */
export async function openDownload(
  contents: Contents,
  artifact: OutputArtifactRecord,
  { offset, length = artifactLimits.fileBytes }: { offset: number; length?: number | undefined },
): Promise<{ bytes: AsyncIterable<Buffer>; length: number }> {
  await verified(contents, artifact, new SecretSearch(artifact));
  const available = Math.max(0, Math.min(length, artifact.bytes - offset));
  return { bytes: contents.read(artifact.sha256, { offset, length: available }), length: available };
}

/** Searches for secrets in pieces that overlap. */
class SecretSearch implements Extractor<void> {
  private seen = 0;
  private window = Buffer.alloc(0);

  constructor(private readonly artifact: OutputArtifactRecord) {}

  take(piece: Buffer): void {
    const overlap = this.window.subarray(Math.max(0, this.window.length - margin));
    this.window = Buffer.concat([overlap, piece]);
    this.seen += piece.length;
    const edges = { atStart: this.window.length === this.seen, atEnd: this.seen >= this.artifact.bytes };
    if (hasSecretShape(decoded(this.artifact, this.window), edges)) {
      throw new ContentProblem('secret-shape');
    }
  }

  done(): void {
    this.window = Buffer.alloc(0);
  }
}

/** Secrets were hidden in the text of a text, and in the bytes of anything else. */
const decoded = ({ mediaType }: OutputArtifactRecord, bytes: Buffer): string =>
  bytes.toString(isText(mediaType) ? 'utf8' : 'latin1');

async function verified<T>(contents: Contents, artifact: OutputArtifactRecord, extractor: Extractor<T>): Promise<T> {
  const hash = createHash('sha256');
  try {
    for await (const piece of contents.read(artifact.sha256)) {
      hash.update(piece);
      extractor.take(piece);
    }
  } catch (error) {
    throw error instanceof BlobMissingError ? new ContentProblem('missing') : error;
  }
  if (`sha256:${hash.digest('hex')}` !== artifact.sha256) {
    throw new ContentProblem('hash-mismatch');
  }
  return extractor.done();
}
