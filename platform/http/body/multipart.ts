import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import type { UploadedFile } from '../../../contracts/upload';
import { AppError, errorMessage, validationError } from '../../errors/app-error';
import type { HttpContext } from '../context';
import { drain } from '../server/drain';
import type { UploadFolder } from './upload-folder';

/** What one request may bring. */
export interface UploadLimits {
  files: number;
  /** Of one file; the rest is not stored, and the file marked as truncated. */
  fileBytes: number;
  /** Of the whole body. */
  totalBytes: number;
}

/** Of everything that is no file: names, and fields that will be refused by name. */
const partLimits = { fields: 20, fieldSize: 1_024, headerPairs: 20, headerSize: 16_384 };

/** The longest boundary that the parser takes. */
const maxBoundaryBytes = 252;

/** The fields of a form by name: each with its files, or its texts. */
type Form = Record<string, (UploadedFile | string)[]>;

/**
 * Reads a `multipart/form-data` body, its files into a directory of their own, and passes the fields to `use`. The files are
 * gone when this settles, whatever happens.
 *
 * @throws AppError 400 malformed, cut off or with too many files, 413 too large, 415 another content type
 */
export async function receiveForm<T>(
  ctx: HttpContext,
  { limits, uploads }: { limits: UploadLimits; uploads: UploadFolder },
  use: (form: Form) => Promise<T>,
): Promise<T> {
  if (!ctx.is('multipart/form-data')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { status: 415, message: 'Send the files as multipart/form-data.' });
  }
  return uploads.withDirectory(async (directory) => {
    try {
      return await use(await new FormReader(ctx, limits, directory).read());
    } catch (error) {
      if (!ctx.req.complete) {
        ctx.set('Connection', 'close');
        await drain(ctx);
      }
      throw error;
    }
  });
}

const tooLarge = (bytes: number): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', {
    status: 413,
    message: `An upload can have at most ${bytes} bytes.`,
    details: { bodyLimitBytes: bytes },
  });
const malformed = (why: string): AppError =>
  new AppError('BAD_REQUEST', { status: 400, message: `The form cannot be read: ${why}.` });

/** Reads one form. The first error ends it. */
class FormReader {
  private readonly form = new Map<string, (UploadedFile | string)[]>();
  private readonly open = new Set<BusboyFileStream>();
  private readonly writes: Promise<void>[] = [];
  private received = 0;
  private failure: Error | undefined;

  constructor(
    private readonly ctx: HttpContext,
    private readonly limits: UploadLimits,
    private readonly directory: string,
  ) {}

  async read(): Promise<Form> {
    if (Number(this.ctx.get('Content-Length')) > this.limits.totalBytes) {
      throw tooLarge(this.limits.totalBytes);
    }
    try {
      await this.parse(this.parser());
    } finally {
      // Nothing may still be written when the directory is removed.
      for (const stream of this.open) {
        stream.destroy();
      }
      await Promise.allSettled(this.writes);
    }
    await Promise.all(this.writes);
    return Object.fromEntries(this.form);
  }

  private parser(): BusboyInstance {
    const { files, fileBytes } = this.limits;
    const type = this.ctx.get('Content-Type');
    try {
      const limits = { ...partLimits, files, fileSize: fileBytes, parts: files + partLimits.fields };
      return new Busboy({ headers: { ...this.ctx.req.headers, 'content-type': type }, limits });
    } catch {
      throw malformed(`its Content-Type needs a boundary of at most ${maxBoundaryBytes} bytes`);
    }
  }

  private parse(parser: BusboyInstance): Promise<void> {
    const { req } = this.ctx;
    const { files, totalBytes } = this.limits;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        if (this.failure) {
          return;
        }
        this.failure = error;
        req.unpipe(parser);
        reject(error);
      };
      const count = (chunk: Buffer): void => {
        this.received += chunk.length;
        if (this.received > totalBytes) {
          fail(tooLarge(totalBytes));
        }
      };
      parser
        .on('file', (name, stream, filename) => this.keep(stream, { field: name, name: filename, fail }))
        .on('field', (name, value) => this.add(name, value))
        .on('filesLimit', () => fail(validationError([{ path: 'files', message: `at most ${files} files at a time` }])))
        .on('fieldsLimit', () => fail(malformed('it has too many fields')))
        .on('partsLimit', () => fail(malformed('it has too many parts')))
        .on('error', (error: unknown) => fail(malformed(errorMessage(error))))
        .on('finish', resolve);
      req
        .on('data', count)
        .once('close', () => req.complete || fail(malformed('it ended too early')))
        .once('error', () => fail(malformed('it ended too early')));
      req.pipe(parser);
    });
  }

  private keep(
    stream: BusboyFileStream,
    { field, name, fail }: { field: string | undefined; name: string | undefined; fail: (error: Error) => void },
  ): void {
    const path = join(this.directory, String(this.writes.length));
    // Errors of a stream whose form has failed already are of no interest.
    stream.on('error', (error) => fail(malformed(errorMessage(error))));
    if (this.failure) {
      stream.resume();
      return;
    }
    this.open.add(stream);
    const file: UploadedFile = { path, name: name ?? '', bytes: 0, truncated: false };
    this.add(field, file);
    const written = pipeline(stream as Readable, createWriteStream(path, { flags: 'wx', mode: 0o600 })).then(() => {
      this.open.delete(stream);
      Object.assign(file, { bytes: stream.bytesRead, truncated: stream.truncated });
    });
    written.catch((error: unknown) => fail(error instanceof Error ? error : new Error(String(error))));
    this.writes.push(written);
  }

  private add(field: string | undefined, value: UploadedFile | string): void {
    const name = field ?? '';
    this.form.set(name, [...(this.form.get(name) ?? []), value]);
  }
}
