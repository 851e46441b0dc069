/** One setting of git: its full name, and its value; `null` for one that is written without a value and means `true`. */
export type Setting = readonly [key: string, value: string | null];

/** Reads the settings that `git config --list -z` prints. */
export function parseSettings(output: string): Setting[] {
  return output
    .split('\0')
    .filter((record) => record !== '')
    .map((record) => {
      const at = record.indexOf('\n');
      return at === -1 ? [record, null] : [record.slice(0, at), record.slice(at + 1)];
    });
}

/** The value that counts when a setting is given more than once; `undefined` when it is not set. */
export function valueOf(settings: readonly Setting[], key: string): string | undefined {
  const last = settings.findLast(([name]) => name === key);
  return last && (last[1] ?? '');
}

/** The remotes that settings name, each once. */
export const remoteNames = (settings: readonly Setting[]): string[] => [
  ...new Set(settings.flatMap(([key]) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? [])),
];

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\t': '\\t', '\b': '\\b' };

const quoted = (text: string): string => `"${text.replace(/[\\"\n\t\b]/g, (character) => escapes[character] ?? '')}"`;

/** A section's own name may hold anything but a line end; only these two characters are escaped in it. */
const sectionName = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;

/** Writes settings as a file that git reads. */
export function renderSettings(settings: readonly Setting[]): string {
  return settings
    .map(([key, value]) => {
      const first = key.indexOf('.');
      const last = key.lastIndexOf('.');
      const section = key.slice(0, first);
      const name = key.slice(last + 1);
      const header = first === last ? `[${section}]` : `[${section} ${sectionName(key.slice(first + 1, last))}]`;
      return `${header}\n\t${value === null ? name : `${name} = ${quoted(value)}`}\n`;
    })
    .join('');
}
