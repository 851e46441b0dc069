import { z } from 'zod';
import { digest, text, timestamp } from '../common';
import { listPage } from '../query';

/** The most files and bytes that the API adds up to, and the longest file that it reads or writes, in bytes. */
export const docLimits = { files: 5_000, totalBytes: 67_108_864, fileBytes: 524_288, depth: 8 };

export const docExtension = z.enum(['md', 'markdown', 'txt', 'json', 'yaml', 'yml', 'csv']);

/** A name that is neither hidden nor a step to somewhere else. */
const isName = (name: string): boolean => /^[^./\\\p{Cc}\p{Cs}][^/\\\p{Cc}\p{Cs}]{0,119}$/u.test(name);

/** A path below the directory of documents: its files are text, and none of its names is hidden. */
export const docPath = z
  .string()
  .min(1)
  .max(500)
  .refine((path) => path.split('/').every(isName), 'names must not be empty, hidden, `.`, `..` or longer than 120')
  .refine((path) => path.split('/').length <= docLimits.depth, `is deeper than ${docLimits.depth} names`)
  .refine((path) => docExtension.safeParse(path.split('.').at(-1)).success, {
    message: `must end in one of ${docExtension.options.join(', ')}`,
  });

const fields = {
  path: docPath,
  name: z.string(),
  /** In bytes. */
  size: z.number().int(),
  modified: timestamp,
  created: timestamp,
  extension: docExtension,
  /** Empty for those directly in the directory of documents. */
  directory: z.string(),
};

export const docFile = z.object(fields).meta({ id: 'DocFile' });
export type DocFile = z.infer<typeof docFile>;

export const docContent = z.object({ ...fields, content: z.string(), digest }).meta({ id: 'DocContent' });
export type DocContent = z.infer<typeof docContent>;

/** `expectedDigest` is that of the content the writer has seen; `null` expects no file. */
export const docWrite = z
  .strictObject({
    content: text(docLimits.fileBytes)
      .refine((content) => !/\p{Cs}/u.test(content), 'must be well-formed Unicode')
      .refine((content) => Buffer.byteLength(content) <= docLimits.fileBytes, {
        message: `must have at most ${docLimits.fileBytes} bytes`,
      }),
    expectedDigest: digest.nullable().optional(),
  })
  .meta({ id: 'DocWrite' });

export const docQuery = z.strictObject({
  directory: z.string().max(500).optional(),
  extension: docExtension.optional(),
  sortBy: z.enum(['path', 'name', 'size', 'modified', 'created']).default('path'),
  sortOrder: z.enum(['asc', 'desc']).default('asc'),
  ...listPage(100, 1_000),
});

export const docStats = z
  .object({
    files: z.number().int(),
    bytes: z.number().int(),
    directories: z.number().int(),
    byExtension: z.partialRecord(docExtension, z.number().int()),
    lastModified: timestamp.nullable(),
    /** There are more files than are listed. */
    truncated: z.boolean(),
  })
  .meta({ id: 'DocStats' });

export const docDirectory = z.object({ path: z.string(), files: z.number().int() }).meta({ id: 'DocDirectory' });

export const docSearchQuery = z.strictObject({ q: text(200, 1), ...listPage(20, 100) });

/** A document with the first lines that have the text, at most five. */
export const docMatch = z
  .object({ ...fields, matches: z.array(z.object({ line: z.number().int(), text: z.string() })) })
  .meta({ id: 'DocMatch' });
export type DocMatch = z.infer<typeof docMatch>;

export const docPageQuery = z.strictObject(listPage(100, 1_000));
