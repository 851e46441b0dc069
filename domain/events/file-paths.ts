import type { RunEvent } from '../../contracts/runs/event';

type Reported = Pick<RunEvent, 'kind' | 'payload'>;

const failed = new Set(['failed', 'failure', 'error', 'rejected', 'conflict', 'denied', 'cancelled']);
const editing = /edit|write|patch|replace|delete|create[-_ ]?file|update[-_ ]?file|apply[-_ ]?diff/i;

/** Whether a status reports a failure. */
export const isFailure = (status: unknown): boolean => failed.has(word(status));

/** The file that an event reports as changed, and whether that worked; nothing for any other event. */
export function editOf({ kind, payload }: Reported): { path: string; worked: boolean } | undefined {
  if (kind !== 'file.changed' && !isEditingTool(kind, payload)) {
    return undefined;
  }
  const path = pathIn(payload);
  return path === undefined ? undefined : { path, worked: !isFailure(payload.status) };
}

function isEditingTool(kind: RunEvent['kind'], { name, kind: toolKind, title }: Record<string, unknown>): boolean {
  return kind === 'tool.completed' && editing.test(`${word(name)} ${word(toolKind)} ${word(title)}`);
}

/** The file a tool was used on, whichever field its provider uses. */
function pathIn(payload: Record<string, unknown>): string | undefined {
  const [location] = Array.isArray(payload.locations) ? (payload.locations as unknown[]) : [];
  const candidates = [
    payload,
    fields(payload.detail),
    fields(payload.input),
    fields(payload.rawInput),
    fields(location),
  ];
  for (const candidate of candidates) {
    const path = candidate.path ?? candidate.file_path ?? candidate.filePath;
    if (typeof path === 'string' && path !== '') {
      return path;
    }
  }
  return undefined;
}

const word = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '');

/** The fields of an object; none of anything else. */
export const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
