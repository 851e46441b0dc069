import type { RunEvent } from '../../contracts/run-event';

type Told = Pick<RunEvent, 'kind' | 'payload'>;

const failed = new Set(['failed', 'failure', 'error', 'rejected', 'conflict', 'denied', 'cancelled']);
const editing = /edit|write|patch|replace|delete|create[-_ ]?file|update[-_ ]?file|apply[-_ ]?diff/i;

/** Whether a status says that something did not work. */
export const isFailure = (status: unknown): boolean => failed.has(word(status));

/** The file an event says was changed, and whether that worked; nothing for any other event. */
export function editOf({ kind, payload }: Told): { path: string; worked: boolean } | undefined {
  if (kind !== 'file.changed' && !isEditingTool(kind, payload)) return undefined;
  const path = pathIn(payload);
  return path === undefined ? undefined : { path, worked: !isFailure(payload.status) };
}

function isEditingTool(kind: RunEvent['kind'], { name, kind: toolKind, title }: Record<string, unknown>): boolean {
  return kind === 'tool.completed' && editing.test(`${word(name)} ${word(toolKind)} ${word(title)}`);
}

/** The file a tool was used on, wherever its provider says so. */
function pathIn(payload: Record<string, unknown>): string | undefined {
  const [location] = Array.isArray(payload.locations) ? (payload.locations as unknown[]) : [];
  const places = [payload, fields(payload.detail), fields(payload.input), fields(payload.rawInput), fields(location)];
  for (const place of places) {
    const path = place.path ?? place.file_path ?? place.filePath;
    if (typeof path === 'string' && path !== '') return path;
  }
  return undefined;
}

const word = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '');

/** The fields of an object; none of anything else. */
export const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
