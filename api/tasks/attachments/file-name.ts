/** Control and formatting characters, among them those that turn text around, and halves of characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;
/** What file systems and shells take for something else, and HTML for a tag. */
const special = /[<>:"|?*\\/]/g;

const maxLength = 200;
const maxExtension = 10;

/** The extension of a file's name, in lower case and without the dot; empty when it has none. */
export function extensionOf(name: string): string {
  const match = new RegExp(`\\.([A-Za-z0-9]{1,${maxExtension}})$`).exec(name);
  return (match?.[1] ?? '').toLowerCase();
}

/**
 * A caller's name for a file as it may be stored, shown and saved: one path segment of 200 characters or fewer, its extension
 * preserved, never empty and never hidden.
 */
export function cleanFileName(name: string): string {
  const segment = name.split(/[\\/]/).at(-1) ?? '';
  const visible = segment.normalize('NFC').replace(invisible, '').replace(special, '_');
  const trimmed = trim(visible);
  if (trimmed === '') {
    return 'file';
  }
  const extension = extensionOf(trimmed);
  const stem = extension === '' ? trimmed : trimmed.slice(0, -(extension.length + 1));
  const suffix = extension === '' ? '' : `.${trimmed.slice(-extension.length)}`;
  // What is cut off may leave a space or a dot at the end.
  return trim(`${cut(stem, maxLength - suffix.length)}${suffix}`);
}

/** A text without spaces and dots around it, in one pass. */
function trim(text: string): string {
  const [, trimmed = ''] = /^[\s.]*(.*[^\s.])?/su.exec(text) ?? [];
  return trimmed;
}

/** Whole characters of a text, up to so many UTF-16 units. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
