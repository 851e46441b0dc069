/** The most files that are listed by name. */
const maxFiles = 1_000;
/** The most UTF-16 units of their paths in all: a record holds several such lists, and a path may have thousands. */
const maxLength = 262_144;

const lengthOf = ({ path, previousPath = '' }: { path: string; previousPath?: string }): number =>
  path.length + previousPath.length;

/** The first files, as many as a record may list. */
export function listedFiles<T extends { path: string; previousPath?: string }>(files: readonly T[]): T[] {
  let length = 0;
  const end = files.findIndex((file, index) => {
    length += lengthOf(file);
    return index === maxFiles || length > maxLength;
  });
  return end < 0 ? [...files] : files.slice(0, end);
}
