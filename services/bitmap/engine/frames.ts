/**
 * Frames of the earlier revision are stored as fields with names that no client can use: the bits of a frame in one, each
 * of its integer fields in one more. The two revisions thus share columns, and never see each other's fields.
 */
export const frameField = (frame: string): string => `frame/${frame}`;
export const frameIntField = (frame: string, field: string): string => `frame/${frame}/${field}`;

/** The frame that a field belongs to, or undefined for a field of the current revision. */
export const frameNameOf = (field: string): string | undefined =>
  field.startsWith('frame/') ? field.split('/')[1] : undefined;

/** The name of an integer field within its frame, or undefined for anything else. */
export const frameIntNameOf = (field: string): string | undefined =>
  field.startsWith('frame/') ? field.split('/')[2] : undefined;
