import { isScalar, type YAMLMap } from 'yaml';

/** The source of one top-level field: its own lines, and the comment lines above it. */
export interface FieldSource {
  lead: string;
  text: string;
  value: unknown;
}

export interface FieldSources {
  byField: Map<string, FieldSource>;
  /** Comment lines below the last field. */
  tail: string;
}

/** Cuts a YAML text into its top-level fields; empty for notations that have no line of their own per field. */
export function fieldSources(yaml: string, map: YAMLMap, fields: Record<string, unknown>): FieldSources {
  const none: FieldSources = { byField: new Map(), tail: '' };
  if (map.flow || !yaml.endsWith('\n')) {
    return none;
  }
  const starts: { name: string; at: number }[] = [];
  for (const { key } of map.items) {
    if (!isScalar(key) || !key.range) {
      return none;
    }
    const at = key.range[0];
    if (at > 0 && yaml[at - 1] !== '\n') {
      return none;
    }
    starts.push({ name: String(key.value), at });
  }
  const byField = new Map<string, FieldSource>();
  let lead = yaml.slice(0, starts[0]?.at ?? 0);
  for (const [index, { name, at }] of starts.entries()) {
    const chunk = yaml.slice(at, starts[index + 1]?.at ?? yaml.length);
    const end = startOfTrailingComments(chunk);
    byField.set(name, { lead, text: chunk.slice(0, end), value: fields[name] });
    lead = chunk.slice(end);
  }
  return { byField, tail: lead };
}

/**
 * Where the comment lines at the end of a field's lines begin; they belong to the field below. Empty lines above the
 * first of them stay: they may be part of a block of text.
 */
function startOfTrailingComments(chunk: string): number {
  let start = chunk.length;
  let lineEnd = chunk.length;
  while (lineEnd > 0) {
    const lineStart = chunk.lastIndexOf('\n', lineEnd - 2) + 1;
    if (chunk[lineStart] === '#') {
      start = lineStart;
    } else if (chunk.slice(lineStart, lineEnd).trim() !== '') {
      break;
    }
    lineEnd = lineStart;
  }
  return start;
}
