import { createHash } from 'node:crypto';
import type { CapturedOutput, OutputPreview } from '../../contracts/runs/output';
import { clipText } from './clip';

export const plainText = 'text/plain; charset=utf-8';
export const json = 'application/json';
export const binary = 'application/octet-stream';

export const isText = (mediaType: string): boolean => mediaType !== binary;

/**
 * Describes the captured output.
 *
 * @param key names it within its attempt, so that a repeated append is the same artifact
 */
export function captureOutput(
  attemptId: string,
  key: string,
  output: Pick<CapturedOutput, 'kind' | 'name' | 'mediaType' | 'originalBytes' | 'truncated' | 'body'>,
): CapturedOutput {
  const name = createHash('sha256').update(`${attemptId}/${key}`).digest('hex').slice(0, 20);
  return {
    ...output,
    id: `artifact_${name}`,
    sha256: `sha256:${createHash('sha256').update(output.body).digest('hex')}`,
    bytes: output.body.length,
  };
}

const previewBytes = { head: 2_048, tail: 1_024 };

/** The most that a preview takes in an event, in bytes of JSON. */
export const previewLimit = 8_192;

/** `run-output-preview/v1` of an artifact. */
export function previewOf({
  id,
  kind,
  name,
  mediaType,
  sha256,
  bytes,
  truncated,
  body,
}: CapturedOutput): OutputPreview {
  const head = isText(mediaType) ? clipJson(clipText(wholeText(body.subarray(0, 4_096)), previewBytes.head)) : '';
  const headBytes = Buffer.byteLength(head);
  const rest = isText(mediaType) ? body.subarray(Math.max(headBytes, bytes - previewBytes.tail)) : Buffer.alloc(0);
  return {
    schemaVersion: 'run-output-preview/v1',
    artifactId: id,
    kind,
    name: name === null ? null : clipJson(clipText(name, 512)),
    mediaType,
    sha256,
    bytes,
    truncated,
    head,
    tail: clipJson(wholeText(rest)),
  };
}

/** The text of some bytes of a UTF-8 text, without the characters that were cut at either side. */
function wholeText(bytes: Buffer): string {
  let from = 0;
  while (from < bytes.length && from < 4 && ((bytes[from] ?? 0) & 0xc0) === 0x80) {
    from += 1;
  }
  return clipText(
    bytes
      .subarray(from)
      .toString('utf8')
      .replace(/\uFFFD+$/, ''),
    bytes.length,
  );
}

/** Control characters take six bytes in JSON: text that is full of them is shown shorter. */
function clipJson(text: string): string {
  let clipped = text;
  while (JSON.stringify(clipped).length > 2 * text.length + 2) {
    clipped = clipText(clipped, clipped.length >> 1);
  }
  return clipped;
}
