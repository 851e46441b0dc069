import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { OutputContent } from '../../../contracts/runs/output';
import { createRedactor } from '../../../platform/log/redact';
import type { OutputArtifactRecord } from '../../../stores/runs/output-store';
import { type ContentRequest, openDownload, readContent } from './read';

const token = `ghp_${'A1'.repeat(18)}`;

/** An artifact with this content, read in pieces of this length. */
function anArtifact(content: string | Buffer, { piece = 65_536, mediaType = 'text/plain; charset=utf-8' } = {}) {
  const body = Buffer.from(content);
  const artifact: OutputArtifactRecord = {
    _id: 'artifact_0123456789abcdef0123',
    schemaVersion: 'run-output-artifact/v1',
    taskId: 'task_20260101_ab',
    runId: 'attempt_0123456789ab',
    attemptId: 'attempt_0123456789ab',
    kind: 'stdout',
    name: null,
    mediaType,
    sha256: `sha256:${createHash('sha256').update(body).digest('hex')}`,
    bytes: body.length,
    originalBytes: body.length,
    truncated: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-02-01T00:00:00.000Z',
    state: 'available',
    lease: null,
    hasBody: true,
    revision: 1,
  };
  const contents = {
    async *read(_sha256: string, { offset = 0, length = Infinity }: { offset?: number; length?: number } = {}) {
      const range = body.subarray(offset, offset + length);
      for (let at = 0; at < range.length; at += piece) {
        yield range.subarray(at, at + piece);
      }
    },
  };
  return {
    artifact,
    read: (request: ContentRequest): Promise<OutputContent> => readContent(contents, artifact, request),
    async download(offset = 0, length?: number): Promise<Buffer> {
      const { bytes } = await openDownload(contents, artifact, { offset, length });
      const pieces: Buffer[] = [];
      for await (const part of bytes) {
        pieces.push(part);
      }
      return Buffer.concat(pieces);
    },
  };
}

describe('content with a secret in it', () => {
  const far = 'word '.repeat(30_000);

  it('does not leave, whichever part of the secret is asked for', async () => {
    const { read } = anArtifact(`${far} ${token} ${far}`);
    const at = far.length + 1;
    for (const offset of [at - 10, at + 3, at + token.length - 1, at + token.length + 5]) {
      await expect(read({ operation: 'byte-range', offset, length: 8 })).rejects.toMatchObject({
        reason: 'secret-shape',
      });
    }
    await expect(read({ operation: 'byte-range', offset: 0, length: 8 })).resolves.toMatchObject({
      content: 'word wor',
    });
    await expect(read({ operation: 'line-range', startLine: 1, lineCount: 1 })).resolves.toMatchObject({
      truncated: true,
    });
  });

  it('does not leave as lines, as a value or as a download', async () => {
    const lines = anArtifact(`fine\n${token}\nfine`, { piece: 7 });
    await expect(lines.read({ operation: 'line-range', startLine: 3, lineCount: 1 })).resolves.toMatchObject({
      lines: ['fine'],
    });
    await expect(lines.read({ operation: 'line-range', startLine: 1, lineCount: 3 })).rejects.toMatchObject({
      reason: 'secret-shape',
    });
    const json = anArtifact(JSON.stringify({ a: 1, b: token }));
    await expect(json.read({ operation: 'json-path', jsonPath: '$.a' })).rejects.toMatchObject({
      reason: 'secret-shape',
    });
    for (const piece of [1_000, 65_536, 150_020]) {
      await expect(anArtifact(`${far} ${token} ${far}`, { piece }).download()).rejects.toMatchObject({
        reason: 'secret-shape',
      });
    }
  });
});

it('what was redacted when it was stored is never taken for a secret, in any part', async () => {
  const redact = createRedactor();
  const pieces = fc.constantFrom(
    'password=',
    'x',
    token,
    'sk-',
    'a1'.repeat(30),
    'Bearer ',
    ' ',
    '\n',
    'é',
    'AKIA',
    '"',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 30 }), fc.nat(300), fc.nat(300), async (parts, offset, length) => {
      const text = redact(`${'~ '.repeat(8_500)}${parts.join('')}${' ~'.repeat(8_500)}`);
      // Long enough around it that the part is seen without the rest of the text.
      const content = anArtifact(text, { piece: 999 });
      const found = await content.read({ operation: 'byte-range', offset: 17_000 + offset, length: length + 1 });
      expect(found).toMatchObject({ operation: 'byte-range' });
      const lines = await content.read({ operation: 'line-range', startLine: 1, lineCount: 1_000 });
      expect(lines).toMatchObject({ operation: 'line-range' });
      expect((await content.download()).toString()).toBe(text);
    }),
    { numRuns: 150 },
  );
});

it('content that is not what was stored does not leave', async () => {
  const { artifact, read } = anArtifact('hello');
  artifact.sha256 = `sha256:${'0'.repeat(64)}`;
  for (const request of [
    { operation: 'byte-range', offset: 0, length: 1 },
    { operation: 'line-range', startLine: 1, lineCount: 1 },
    { operation: 'json-path', jsonPath: '$' },
  ] as const) {
    await expect(read(request)).rejects.toMatchObject({ reason: 'hash-mismatch' });
  }
});

it('a JSONPath reads no more than it may', async () => {
  const { read } = anArtifact(JSON.stringify('x'.repeat(1_100_000)));
  await expect(read({ operation: 'json-path', jsonPath: '$' })).rejects.toMatchObject({ status: 413 });
});
