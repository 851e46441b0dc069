import { type Permission, permission, role, rolePermissions } from '../../../contracts/permissions';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';

interface DescribedOperation {
  name: string;
  isRead: boolean;
  permission: string;
}

const roles = role.options;

function operationsOf({ paths }: OpenApiDocument): DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      isRead: method === 'get' || operation['x-relays'] === true,
      permission: operation['x-permission'] ?? 'public',
    })),
  );
}

/** A read-only caller changes nothing, whatever permission an operation needs. */
const mayCall = (caller: (typeof roles)[number], { isRead, permission: needed }: DescribedOperation): boolean =>
  rolePermissions[caller].includes(needed as Permission) && (caller !== 'read-only' || isRead);

const table = ([head = [], ...rows]: string[][]): string => {
  const widths = head.map((_title, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
};

/** Which role has which permission, as markdown. */
const permissionTable = (): string =>
  table([
    ['permission', ...roles.map((name) => `\`${name}\``)],
    ...permission.options.map((name) => [
      `\`${name}\``,
      ...roles.map((one) => (rolePermissions[one].includes(name) ? 'yes' : '')),
    ]),
  ]);

/** What each operation needs and which roles may call it, as markdown: a table for each permission. */
export function roleList(document: OpenApiDocument): string {
  const operations = operationsOf(document);
  const sections = permission.options.flatMap((name) => {
    const rows = operations
      .filter((operation) => operation.permission === name)
      .map((operation) => [`\`${operation.name}\``, ...roles.map((one) => (mayCall(one, operation) ? 'yes' : ''))]);
    return rows.length === 0
      ? []
      : [`### ${name}`, table([['operation', ...roles.map((one) => `\`${one}\``)], ...rows])];
  });
  const others = operations
    .filter((operation) => !permission.options.includes(operation.permission as Permission))
    .map((operation) => `- \`${operation.name}\`: ${operation.permission}`);
  return [
    '## Permissions',
    permissionTable(),
    '## Operations',
    ...sections,
    '### Without a role',
    'Open to every caller (`public`) or to every one with a valid credential (`authenticated`), or for another credential than that of a role.',
    others.join('\n'),
  ].join('\n\n');
}
