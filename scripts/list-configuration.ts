import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { environment } from '../platform/config/env';
import { partSettings } from '../platform/config/part-settings';
import { secretSettings } from '../platform/config/secret-files';
import { settingGroups } from '../platform/config/settings/groups';

/** Where the page is, from the root of the project. */
export const configurationPage = 'docs/operate/configuration.md';

/** A setting in JSON Schema; `unit` and `form` come from `platform/config/settings`. */
interface SettingSchema {
  description?: string;
  default?: unknown;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  unit?: string;
  form?: string;
}

const code = (value: unknown): string => `\`${String(value)}\``;

const introduction = `# Configuration

Every environment variable that Runboard reads, from the schema that validates it; \`npm run docs:configuration\` writes this page.

They are checked at start: every problem is listed, and the process exits with code 2. An empty value counts as absent, and an
unknown name that begins with \`BOARD_\` is a problem. \`npm start\` reads all of them, and gives each part only those that it
reads, by a file descriptor.

Secrets may be files instead: \`<NAME>_FILE\` is the path of a file with the value, which only its owner may read
(mode 0600), of these settings: ${secretSettings.map(code).join(', ')}.
`;

/** The page as it should be. */
export function describeConfiguration(): string {
  const { properties = {} } = z.toJSONSchema(environment, { io: 'input' });
  const sections = Object.entries(settingGroups).map(([title, settings]) => {
    const rows = Object.keys(settings).map((name) => rowOf(name, properties[name] as SettingSchema));
    return `## ${title}\n\n${table([['variable', 'default', 'values', 'read by', 'meaning'], ...rows])}\n`;
  });
  return [introduction, ...sections].join('\n');
}

function rowOf(name: string, schema: SettingSchema): string[] {
  const { default: fallback = '', description = '' } = schema;
  return [code(name), fallback === '' ? '' : code(fallback), valuesOf(schema), readersOf(name), description];
}

function valuesOf({ enum: options, minimum, maximum, unit, minLength = 1, form }: SettingSchema): string {
  if (options) {
    return options
      .filter((option) => !/^[01]$/.test(option))
      .map(code)
      .join(', ');
  }
  if (minimum !== undefined) {
    return `${minimum} to ${maximum}${unit === undefined ? '' : ` ${unit}`}`;
  }
  return form ?? (minLength > 1 ? `at least ${minLength} characters` : 'text');
}

function readersOf(name: string): string {
  const parts = Object.entries(partSettings).filter(([, names]: [string, readonly string[]]) => names.includes(name));
  if (parts.length === Object.keys(partSettings).length) {
    return 'all';
  }
  return parts.map(([part]) => part).join(', ') || '`npm start`';
}

/** A markdown table as prettier formats it. */
function table([head = [], ...rows]: string[][]): string {
  const widths = head.map((_title, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

if (require.main === module) {
  writeFileSync(configurationPage, describeConfiguration());
}
