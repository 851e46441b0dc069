import { z } from 'zod';

/** A file that came with a request. It is removed after the response. */
export interface UploadedFile {
  /** Where it is for now. */
  path: string;
  /** As the caller names it: hostile until it is cleaned. */
  name: string;
  /** How much of it was stored. */
  bytes: number;
  /** Whether it is larger than a file may be; the rest was not stored. */
  truncated: boolean;
}

/** One file of a `multipart/form-data` body. */
export const uploadedFile = z
  .custom<UploadedFile>((value) => typeof value === 'object' && value !== null, 'must be a file')
  .meta({ type: 'string', format: 'binary' });
