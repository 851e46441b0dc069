const maxLength = 50;

/** The part of a file name that comes from a title: lower-case letters, digits and dashes, up to 50; may be empty. */
export function slugOf(title: string): string {
  const dashed = title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return dashed.replace(/^-/, '').slice(0, maxLength).replace(/-$/, '');
}
